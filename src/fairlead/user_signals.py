# SPDX-License-Identifier: Apache-2.0
"""What signals do while no program of the user runs: no traceback, and no end without need."""

from __future__ import annotations

import signal
from types import FrameType

__all__ = ["FOR_PROGRAMS", "do_nothing", "end_quietly", "ignore_those_for_programs"]

FOR_PROGRAMS = (
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF),
    *(signal.SIGXCPU, signal.SIGIO, signal.SIGPWR),
)
"""What ends a program without a handler, and means something to those that have one."""


def end_quietly() -> None:
    """Until the command begins, end by SIGINT as other programs do, without Python's traceback."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def ignore_those_for_programs() -> None:
    """Let signals for the user's program do nothing while it does not run.

    They are not set to be ignored, which programs would inherit.
    """
    for number in FOR_PROGRAMS:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, do_nothing)


def do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal without effect."""


def signal_name(number: int) -> str:
    """Such as "SIGTERM"."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
