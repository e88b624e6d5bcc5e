# SPDX-License-Identifier: Apache-2.0
"""run(): exit codes, output, time limits and signals of one program, and no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fairlead.act.launch import LaunchTimeoutError, run
from fairlead.errors import LaunchError

# Leaves its parent, its process group and its session, as launchers' daemons do.
DAEMON = """
import os, sys, time, signal
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
if sys.argv[2] == "stubborn": signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
os.closerange(0, 3)
time.sleep(300)
"""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def shell(script: str, *words: str) -> list[str]:
    return ["/bin/sh", "-c", script, "sh", *words]


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 37", 37), ("kill -9 $$", 137)])
def test_exit_code_is_passed_back_as_shells_count(script: str, code: int) -> None:
    assert run(shell(script)).returncode == code


def test_captured_output_keeps_the_streams_apart_and_survives_foreign_bytes() -> None:
    finished = run(shell(r"printf 'a\377b\n'; echo err >&2; printf end"), capture=True)

    assert (finished.stdout, finished.stderr) == ("a\ufffdb\nend", "err\n")


def test_large_output_on_both_streams_does_not_block() -> None:
    finished = run(shell("seq 200000; seq 200000 >&2"), capture=True)

    expected = "".join(f"{number}\n" for number in range(1, 200001))
    assert (finished.stdout, finished.stderr) == (expected, expected)


def test_uncaptured_output_goes_straight_through(capfd: pytest.CaptureFixture[str]) -> None:
    finished = run(shell("echo out; echo err >&2"))

    assert capfd.readouterr() == ("out\n", "err\n")
    assert (finished.stdout, finished.stderr) == ("", "")


def test_lines_of_the_error_output_arrive_while_the_program_runs(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = 'echo first >&2; until [ -e "$1" ]; do sleep 0.02; done; echo second >&2'
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        gate.touch()

    run(shell(script, str(gate)), on_stderr_line=on_line)

    assert lines == ["first", "second"]


def test_environment_replaces_the_own_one() -> None:
    finished = run(["/usr/bin/env"], env={"ONLY": 'it\'s "this"\nline'}, capture=True)

    assert finished.stdout == 'ONLY=it\'s "this"\nline\n'


def test_standard_input_is_empty_unless_it_is_passed() -> None:
    program = "from fairlead.act.launch import run; run(['cat'], {})"

    for is_passed in (False, True):
        done = subprocess.run(
            [sys.executable, "-c", program.format("stdin=0" if is_passed else "")],
            input="hello",
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == ("hello" if is_passed else "")


def test_seconds_are_those_of_the_program() -> None:
    finished = run(["sleep", "0.3"])

    assert 0.3 <= finished.seconds < 30


@pytest.mark.parametrize(
    ("program", "problem"),
    [("/no/such/program", "No such file"), ("/etc/passwd", "Permission denied"), ("\0", "null")],
)
def test_program_that_cannot_be_started_is_an_error_with_the_reason(
    program: str, problem: str
) -> None:
    with pytest.raises(LaunchError, match=problem):
        run([program])


def test_time_limit_ends_the_program_and_keeps_its_output() -> None:
    # On a busy machine a shell takes a while to begin.
    with pytest.raises(LaunchTimeoutError, match=r"sh did not end within 5 s") as caught:
        run(shell("echo begun; sleep 300"), timeout_s=5, capture=True)

    assert caught.value.finished.stdout == "begun\n"
    assert caught.value.finished.returncode == 128 + signal.SIGTERM


def leaving_daemon(file: Path, code: int, manner: str = "gentle") -> list[str]:
    script = f'"$1" -c "$2" "$3" {manner}; until [ -s "$3" ]; do sleep 0.02; done; exit {code}'
    return shell(script, sys.executable, DAEMON, str(file))


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("trap 'exit 7' INT; touch here; while :; do sleep 0.02; done", 7),
        # One that does not listen to Ctrl-C gets SIGTERM.
        ("trap '' INT; trap 'exit 8' TERM; touch here; while :; do sleep 0.02; done", 8),
    ],
)
def test_a_program_that_is_over_is_ended_as_by_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fairlead.act.launch.process._Over.GRACE_S", 0.5)

    finished = run(shell(script), is_over=Path("here").exists, is_users=True)

    assert (finished.returncode, finished.is_over, finished.signal) == (code, True, None)


def test_one_that_ends_before_is_not(tmp_path: Path) -> None:
    finished = run(shell("exit 3"), is_over=(tmp_path / "never").exists, is_users=True)

    assert (finished.returncode, finished.is_over) == (3, False)


@pytest.mark.parametrize("manner", ["gentle", "stubborn"])
def test_daemon_that_our_own_program_left_behind_is_gone(manner: str, tmp_path: Path) -> None:
    file = tmp_path / "pid"

    finished = run(leaving_daemon(file, 0, manner))

    assert finished.returncode == 0
    assert not is_alive(int(file.read_text()))


@pytest.mark.parametrize("code", [0, 3])
def test_daemon_of_the_users_program_goes_on_after_a_normal_end_alone(
    code: int, tmp_path: Path
) -> None:
    file = tmp_path / "pid"

    finished = run(leaving_daemon(file, code), is_users=True)

    daemon = int(file.read_text())
    assert (finished.returncode, is_alive(daemon)) == (code, code == 0)
    if code == 0:
        os.kill(daemon, signal.SIGKILL)


def test_run_in_a_thread_works_while_another_one_runs() -> None:
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: codes.append(run(shell(f"exit {n}")).returncode))
        for n in (3, 4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(codes) == [3, 4]


def test_ctrl_c_reaches_the_program_once_and_then_the_caller() -> None:
    # The program counts its SIGINTs for a moment before it leaves with the count.
    program = (
        "import signal, sys, time\n"
        "got = []\n"
        "signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
        "print('ready', flush=True)\n"
        "while not got: time.sleep(0.01)\n"
        "time.sleep(0.3)\n"
        "print(len(got), flush=True)\n"
    )
    caller = (
        "import sys\n"
        "from fairlead.act.launch import run\n"
        "try:\n"
        "    run([sys.executable, '-c', sys.argv[1]])\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    # A process group of its own gets the signal as a terminal would send it: to every member.
    process = subprocess.Popen(
        [sys.executable, "-c", caller, program],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        rest = process.stdout.read()

    assert rest == "1\ninterrupted\n"


@pytest.mark.parametrize(
    "call",
    [
        "run(program)",
        "run(program, timeout_s=3000)",
        "run_concurrently([program], lambda *_: None)",
    ],
)
def test_signal_that_another_thread_takes_is_passed_on_too(call: str, tmp_path: Path) -> None:
    # The kernel gives a process's signal to any of its threads: the second of two often to another
    # one than the first. So it is here with the only one.
    caller = (
        "import signal, sys, threading\n"
        "from fairlead.act.launch import run, run_concurrently\n"
        "def take_signal():\n"
        "    sys.stdin.readline()\n"
        "    signal.pthread_kill(threading.get_ident(), signal.SIGINT)\n"
        "threading.Thread(target=take_signal, daemon=True).start()\n"
        "program = ['sh', '-c', 'echo $$ > \"$0\"; exec sleep 3000', sys.argv[1]]\n"
        "try:\n"
        f"    {call}\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    started = tmp_path / "started"
    process = subprocess.Popen(
        [sys.executable, "-c", caller, str(started)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        while not (started.exists() and started.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.02)
        # The caller is to be waiting by now; where it is not yet, the signal is passed on all the
        # same.
        time.sleep(0.2)
        output, _ = process.communicate("now\n")
    finally:
        process.kill()
        process.wait()

    assert output == "interrupted\n"
    assert not is_alive(int(started.read_text()))


def test_program_that_ignores_a_signal_is_killed_in_the_end() -> None:
    program = (
        "import signal, time\n"
        "for n in (signal.SIGINT, signal.SIGTERM):\n"
        "    signal.signal(n, lambda *_: print('goes on', flush=True))\n"
        "print('ready', flush=True)\n"
        "while True: time.sleep(300)\n"
    )
    caller = (
        "import sys; from fairlead.act.launch import run; run([sys.executable, '-c', sys.argv[1]])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", caller, program], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "goes on\n"
        # The second one does not wait for the grace of the first.
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
        assert set(process.stdout.read().splitlines()) <= {"goes on"}


def test_ignored_hangup_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        finished = run(shell(f"kill -HUP {os.getpid()}; exit 5"))
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)

    assert finished.returncode == 5
