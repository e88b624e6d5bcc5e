# SPDX-License-Identifier: Apache-2.0
"""run_concurrently(): outputs kept apart, one exit code, one signal for all, no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.act.launch import concurrent, process, run_concurrently
from fairlead.act.launch.process import Started
from fairlead.errors import LaunchError


def shell(script: str, *words: str) -> list[str]:
    return ["/bin/sh", "-c", script, "sh", *words]


def nothing(_index: int, _stream: str, _line: bytes) -> None:
    pass


def test_each_line_comes_with_its_program_and_stream() -> None:
    lines: list[tuple[int, str, bytes]] = []
    lock = threading.Lock()

    def keep(*line: object) -> None:
        with lock:
            lines.append(line)  # type: ignore[arg-type]

    run_concurrently([shell("echo a; echo b >&2"), shell(r"printf '\377c\nend'")], keep)

    assert sorted(lines) == [
        (0, "stderr", b"b\n"),
        (0, "stdout", b"a\n"),
        (1, "stdout", b"end"),
        (1, "stdout", b"\xffc\n"),
    ]


def test_programs_run_at_the_same_time(tmp_path: Path) -> None:
    # Each waits for the file of the other; one after the other, the first would never end.
    script = 'touch "$1"; until [ -e "$2" ]; do sleep 0.02; done'
    here, there = str(tmp_path / "here"), str(tmp_path / "there")

    ended = run_concurrently([shell(script, here, there), shell(script, there, here)], nothing)

    assert ended.returncode == 0


def test_exit_code_is_that_of_the_first_to_fail_and_the_others_go_on(tmp_path: Path) -> None:
    gate, late = tmp_path / "gate", tmp_path / "late"
    # What a start takes counts, too: on a busy machine some tenths of a second.
    waits = 'until [ -e "$1" ]; do sleep 0.02; done; sleep 2; '
    ended = run_concurrently(
        [
            shell(waits + "exit 3", str(gate)),
            shell('touch "$1"; exit 4', str(gate)),
            shell(waits + 'touch "$2"', str(gate), str(late)),
        ],
        nothing,
    )

    assert ended.returncode == 4
    assert [finished.returncode for finished in ended.finished] == [3, 4, 0]
    assert late.exists()


def test_starts_can_be_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    times_s: list[float] = []

    def start(*arguments: Any, **options: Any) -> Started:
        times_s.append(time.monotonic())
        return process.start(*arguments, **options)

    monkeypatch.setattr(concurrent, "start", start)
    run_concurrently([shell("exit 0")] * 2, nothing, apart_s=0.3)

    assert times_s[1] - times_s[0] >= 0.3


def test_program_that_cannot_be_started_is_an_error() -> None:
    with pytest.raises(LaunchError, match="/no/such/program"):
        run_concurrently([shell("exit 0"), ["/no/such/program"]], nothing)


def test_output_of_the_program_is_closed_when_ours_is_closed() -> None:
    def broken(_index: int, _stream: str, _line: bytes) -> None:
        raise BrokenPipeError

    ended = run_concurrently([["yes"]], broken)

    assert ended.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_all_programs(number: int) -> None:
    caller = (
        "import sys\n"
        "from fairlead.act.launch import run_concurrently\n"
        "def show(index, stream, line): print(line.decode(), end='', flush=True)\n"
        "run_concurrently([['/bin/sh', '-c', 'echo $$; exec sleep 300']] * 2, show)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", caller],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process:
        pids = [int(process.stdout.readline()) for _ in range(2)]
        process.send_signal(number)
        returncode = process.wait()

    assert returncode == (-number if number == signal.SIGINT else 128 + number)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
