# SPDX-License-Identifier: Apache-2.0
"""Runs several launchers at the same time: signals go to all, outputs are kept apart."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO

from fairlead.act.launch._keeper import END_SOON
from fairlead.act.launch._signals import pass_signals, raise_for
from fairlead.act.launch.process import Finished, Started, start

__all__ = ["AllFinished", "OnLine", "run_concurrently"]

OnLine = Callable[[int, str, bytes], None]
"""Gets each line: index of the program, "stdout" or "stderr", the line with its end."""


@dataclasses.dataclass(frozen=True)
class AllFinished:
    """How several programs ended.

    Attributes:
        finished: Result of each, in their order.
        returncode: Return code of the one that failed first; 0 where none did.
    """

    finished: tuple[Finished, ...]
    returncode: int


def run_concurrently(
    commands: Sequence[Sequence[str]], on_line: OnLine, *, apart_s: float = 0.0
) -> AllFinished:
    """Run programs at the same time until all of them, and all that they started, have ended.

    A program that fails does not end the others, which are separate jobs. Signals are passed on to
    all, as `run` does for one. None can read standard input, since it is not clear which program it
    is for.

    Args:
        commands: Program and arguments of each.
        on_line: Gets their output line by line, each stream from a thread of its own.
        apart_s: Seconds between the start of one and of the next.

    Raises:
        LaunchError: One of them could not be started.
    """
    with pass_signals(to_users_program=True) as signals, contextlib.ExitStack() as stack:
        begun: list[tuple[Started, float]] = []
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for index, argv in enumerate(commands):
                if index > 0:
                    time.sleep(apart_s)
                if signals.ending is not None:
                    break
                begun_s = time.monotonic()
                started = start(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, is_users=True)
                begun.append((started, begun_s))
                process = stack.enter_context(started)
                processes.append(process)
                signals.attach(process.pid)
                for reader in _readers(index, process, on_line):
                    stack.callback(reader.join)
            for started, _ in begun:
                signals.wait_for(started)
        except BaseException:
            for process in processes:
                process.send_signal(END_SOON)
            raise
        reports = [started.report() for started, _ in begun]
    raise_for(signals.ending)
    return AllFinished(
        tuple(Finished(*report) for report in reports),
        _first_failure(
            [(begun_s, *report) for (_, begun_s), report in zip(begun, reports, strict=True)]
        ),
    )


def _readers(
    index: int, process: subprocess.Popen[bytes], on_line: OnLine
) -> list[threading.Thread]:
    assert process.stdout is not None and process.stderr is not None
    readers = [
        threading.Thread(target=_hand_on, args=(stream, index, name, on_line), daemon=True)
        for name, stream in (("stdout", process.stdout), ("stderr", process.stderr))
    ]
    for reader in readers:
        reader.start()
    return readers


def _hand_on(stream: IO[bytes], index: int, name: str, on_line: OnLine) -> None:
    # When our own output is closed, the program's output must be closed too.
    with stream, contextlib.suppress(OSError):
        for line in stream:
            on_line(index, name, line)


def _first_failure(ends: Sequence[tuple[float, int, float]]) -> int:
    """Exit code of what failed first, from (begin, exit code, seconds) of each."""
    failed = [(begun_s + seconds, code) for begun_s, code, seconds in ends if code != 0]
    return min(failed)[1] if failed else 0
