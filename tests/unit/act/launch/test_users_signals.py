# SPDX-License-Identifier: Apache-2.0
"""run(is_users=True): every signal reaches the user's program, and no other rule is made of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from fairlead.act.launch._keeper import ENDING, IGNORED, OTHERS
from fairlead.user_signals import FOR_PROGRAMS

CALLER = """
import sys
from fairlead.act.launch import run
finished = run([sys.executable, "-c", sys.argv[1]], is_users=True)
print("ended", finished.returncode, finished.signal, flush=True)
"""

# Prints each signal that it gets, and ends after SIGUSR2.
LISTENER = """
import signal, sys, time
def heard(number, frame):
    print(number, flush=True)
    if number == signal.SIGUSR2: sys.exit(7)
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, heard)
print("ready", flush=True)
while True: time.sleep(1)
"""


@contextlib.contextmanager
def called(program: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs a program of the user, once that says that it is ready."""
    with subprocess.Popen(
        [sys.executable, "-c", CALLER, program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def test_keeper_passes_on_all_that_is_for_programs() -> None:
    # These end Fairlead itself, and all that it has started, while no program runs.
    ends_others = (signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS)
    assert (*FOR_PROGRAMS, *ends_others) == OTHERS


def test_every_signal_reaches_the_program_and_ends_nothing_else() -> None:
    with called(LISTENER) as process:
        for number in (*IGNORED, *OTHERS, signal.SIGTSTP, *ENDING):
            if number == signal.SIGUSR2:
                continue
            process.send_signal(number)
            if number in ENDING[1:]:
                continue  # Within half a second the second one is taken for the first.
            assert line(process) == str(int(number))
        process.send_signal(signal.SIGUSR2)
        assert line(process) == str(int(signal.SIGUSR2))
        assert line(process) == f"ended 7 {int(ENDING[0])}"


def test_signal_without_handler_ends_the_program_and_its_code_is_returned() -> None:
    program = "import time; print('ready', flush=True); time.sleep(300)"
    with called(program) as process:
        process.send_signal(signal.SIGUSR1)
        assert line(process) == f"ended {128 + signal.SIGUSR1} None"


def test_program_has_as_long_as_it_needs_after_sigterm_and_its_code_is_returned() -> None:
    # Longer than our own programs have.
    program = """
import signal, sys, time
def save(number, frame):
    time.sleep(6)
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True: time.sleep(1)
"""
    with called(program) as process:
        process.send_signal(signal.SIGTERM)
        assert line(process) == "saved"
        assert line(process) == f"ended 0 {int(signal.SIGTERM)}"


def test_program_that_ignores_sigterm_is_killed_after_a_second_one() -> None:
    program = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: print("goes on", flush=True))
print("ready", flush=True)
while True: time.sleep(300)
"""
    with called(program) as process:
        process.send_signal(signal.SIGTERM)
        assert line(process) == "goes on"
        # Within half a second a second one would be taken for the first.
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        # The program may get the second one, too, before it is killed.
        last = next(said for said in iter(lambda: line(process), "") if said != "goes on")
        assert last == f"ended {128 + signal.SIGKILL} {int(signal.SIGTERM)}"


def test_program_that_is_stopped_stops_its_caller_until_it_goes_on() -> None:
    program = """
import signal, sys, time
signal.signal(signal.SIGCONT, lambda *_: print("went on", flush=True))
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(0))
print("ready", flush=True)
while True: time.sleep(1)
"""
    with called(program) as process:
        process.send_signal(signal.SIGTSTP)
        found = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert found is not None and found.si_code == os.CLD_STOPPED
        process.send_signal(signal.SIGCONT)
        assert line(process) == "went on"
        process.send_signal(signal.SIGUSR1)
        assert line(process) == "ended 0 None"


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGALRM])
def test_signal_that_comes_while_the_program_is_being_started_is_not_lost(number: int) -> None:
    caller = f"""
import os, signal, sys
from fairlead.act.launch import process, run
start = process.start
def start_then_signal(*arguments, **options):
    started = start(*arguments, **options)
    os.kill(os.getpid(), {number})
    return started
process.start = start_then_signal
finished = run(["/bin/sh", "-c", "trap 'exit 9' {number}; while :; do sleep 0.1; done"],
               is_users=True)
print("ended", finished.returncode, flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", caller], capture_output=True, text=True, check=False, timeout=60
    )
    # The shell may not have set its trap yet.
    assert done.stdout in ("ended 9\n", f"ended {128 + number}\n"), done.stderr
    assert done.stderr == ""


def test_keeper_says_nothing_where_its_caller_was_killed() -> None:
    with called(LISTENER) as process:
        process.kill()
        process.wait()
        assert process.stdout is not None
        # It ends the program by SIGTERM and SIGCONT, which that prints.
        assert set(process.stdout.read().split()) <= {"15", "18"}
