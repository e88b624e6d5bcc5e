# SPDX-License-Identifier: Apache-2.0
"""What signals do while no program of the user runs: no traceback, and no end without need."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

__all__ = [
    "FOR_PROGRAMS",
    "do_nothing",
    "end_quietly",
    "hold_signals",
    "ignore_those_for_programs",
    "signal_name",
]

Handler = Callable[[int, FrameType | None], Any]

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

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


class _Hold:
    """A handler that leaves the first signal for later."""

    def __init__(self, before: Mapping[signal.Signals, Handler]) -> None:
        self.held: signal.Signals | None = None
        self._before = before

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.held is None:
            self.held = signal.Signals(number)
        else:
            self._before[signal.Signals(number)](number, frame)


@contextlib.contextmanager
def hold_signals() -> Iterator[None]:
    """Handle signals that ask for the end only after the block, which imports modules.

    Modules that are initialised in C drop exceptions now and then, also the one that a handler has
    raised; the signal would be lost. A second signal is handled at once: an import may hang.
    """
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    before = {number: one for number, one in handlers.items() if callable(one)}
    is_held_already = any(isinstance(one, _Hold) for one in before.values())
    if is_held_already or threading.current_thread() is not threading.main_thread():
        yield
        return
    hold = _Hold(before)
    for number in before:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if hold.held is not None:
            before[hold.held](hold.held, None)


def do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal without effect."""


def signal_name(number: int) -> str:
    """Such as "SIGTERM"."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
