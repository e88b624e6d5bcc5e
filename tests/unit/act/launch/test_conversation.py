# SPDX-License-Identifier: Apache-2.0
"""Conversation: answers one by one, ends that come early or late, and no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from launchers import processes_with, wait_until

from fairlead.act.launch import Conversation, LaunchTimeoutError
from fairlead.errors import LaunchError

ECHO = "echo hello; while read line; do echo heard $line; echo noted $line >&2; done; echo bye"
LIMIT_S = 60.0


def ends_with(last: str) -> Callable[[str], bool]:
    return lambda line: line == f"{last}\n"


@pytest.fixture
def talk() -> Iterator[Callable[[str], Conversation]]:
    begun: list[Conversation] = []

    def begin(script: str) -> Conversation:
        begun.append(Conversation(["/bin/sh", "-c", script]))
        return begun[-1]

    yield begin
    for one in begun:
        one.end(0.1)


def test_each_line_is_answered_in_turn(talk: Callable[[str], Conversation]) -> None:
    program = talk(ECHO)
    assert program.ask(None, ends_with("hello"), LIMIT_S).stdout == "hello\n"
    assert program.ask("one", ends_with("heard one"), LIMIT_S).stdout == "heard one\n"
    assert program.ask("two", ends_with("heard two"), LIMIT_S).stdout == "heard two\n"
    assert not program.has_ended
    program.end(LIMIT_S)
    assert program.has_ended


def test_an_empty_line_ends_a_program_that_does_not_see_the_end_of_its_input(
    talk: Callable[[str], Conversation], tmp_path: Path
) -> None:
    # As Open MPI 5 does: what reads the lines stays connected when this end is closed.
    script = "{ cat; sleep 1000; } | { read line; echo \"got '$line'\" > %s; kill 0; }"
    program = talk(script % (tmp_path / "end"))

    program.end(LIMIT_S)

    assert (tmp_path / "end").read_text() == "got ''\n"


def test_lines_of_the_error_output_are_passed_on_as_they_come(
    talk: Callable[[str], Conversation],
) -> None:
    lines: list[str] = []
    program = talk("echo a >&2; read line; echo $line >&2")
    answer = program.ask("b", ends_with("never"), LIMIT_S, lines.append)
    assert lines == ["a", "b"]
    assert answer.stderr == "a\nb\n"


def test_a_line_longer_than_a_pipe_arrives_whole(talk: Callable[[str], Conversation]) -> None:
    program = talk("read line; echo ${#line}")
    assert program.ask("x" * 300_000, ends_with("300000"), LIMIT_S).stdout == "300000\n"


def test_a_program_that_ends_without_an_answer_tells_its_exit_code(
    talk: Callable[[str], Conversation],
) -> None:
    program = talk("echo first; exit 37")
    answer = program.ask(None, ends_with("never"), LIMIT_S)
    assert (answer.stdout, answer.returncode, program.has_ended) == ("first\n", 37, True)


def test_a_line_for_a_program_that_has_ended_is_no_error(
    talk: Callable[[str], Conversation],
) -> None:
    program = talk("echo hello; exec 0<&-; sleep 0.2; exit 3")
    program.ask(None, ends_with("hello"), LIMIT_S)
    assert program.ask("anybody?", ends_with("never"), LIMIT_S).returncode == 3


def test_a_late_answer_ends_the_program_and_keeps_what_it_printed(
    talk: Callable[[str], Conversation],
) -> None:
    program = talk("echo ready; read line; echo begun; sleep 300")
    program.ask(None, ends_with("ready"), LIMIT_S)
    with pytest.raises(LaunchTimeoutError, match=r"sh did not end within 1.5 s") as caught:
        program.ask("go", ends_with("never"), 1.5)
    assert caught.value.finished.stdout == "begun\n"
    assert program.has_ended


def test_a_program_that_does_not_leave_is_ended() -> None:
    program = Conversation(["/bin/sh", "-c", "echo hello; sleep 300"])
    program.ask(None, ends_with("hello"), LIMIT_S)
    program.end(0.1)
    assert program.has_ended


def test_a_program_that_cannot_be_started_is_an_error() -> None:
    program = Conversation(["/no/such/program"])
    with pytest.raises(LaunchError, match="No such file"):
        program.ask(None, ends_with("never"), LIMIT_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["while it is asked", "between two questions"])
def test_a_signal_leaves_nothing_behind(number: signal.Signals, moment: str) -> None:
    tag = f"CONVERSATION_TEST={os.getpid()}-{number}-{len(moment)}"
    name, value = tag.split("=")
    rest = "program.ask('on', lambda line: False, 300)" if "while" in moment else "time.sleep(300)"
    caller = f"""
import signal, time
from fairlead.act.launch import Conversation
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
program = Conversation(["/bin/sh", "-c", "echo hello; sleep 300"])
program.ask(None, lambda line: True, 300)
print("ready", flush=True)
{rest}
"""
    process = subprocess.Popen(
        [sys.executable, "-c", caller],
        env={**os.environ, name: value},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.2)
    process.send_signal(number)
    process.wait()
    process.stdout.close()
    wait_until(lambda: not processes_with(tag))
