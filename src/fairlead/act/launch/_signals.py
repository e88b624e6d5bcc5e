# SPDX-License-Identifier: Apache-2.0
"""Signals that arrive while programs run: passed on to them, and handled afterwards."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Protocol

from fairlead.act.launch._keeper import ENDING, PASSED_ON
from fairlead.user_signals import do_nothing

__all__ = ["HasFileno", "Signals", "pass_signals", "raise_for"]


class HasFileno(Protocol):
    """An object with a file descriptor, for `select`."""

    def fileno(self) -> int:
        """Its file descriptor."""


class Signals:
    """Signals that arrived while programs ran."""

    def __init__(self, woken: int | None = None) -> None:
        self.received: list[int] = []
        self._pids: list[int] = []
        self._woken = woken

    @property
    def ending(self) -> int | None:
        """The first one that asked for the end of the programs, or None."""
        return next((number for number in self.received if number in ENDING), None)

    def attach(self, pid: int) -> None:
        """Pass signals on to this process too, including those that arrived before."""
        self._pids.append(pid)
        for number in self.received:
            _send(pid, number)

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Pass a signal on."""
        self.received.append(number)
        for pid in self._pids:
            _send(pid, number)

    def wait_for(self, stream: HasFileno, timeout_s: float | None = None) -> bool:
        """Wait until a stream can be read, passing signals on meanwhile; false at a timeout.

        A blocking call such as waitpid would prevent a signal from being passed on: it is only
        interrupted where the kernel gives the signal to this thread, and a second one soon after
        the first may go to another (a BLAS has some).
        """
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        poll = select.poll()
        poll.register(stream, select.POLLIN)
        if self._woken is not None:
            poll.register(self._woken, select.POLLIN)
        while True:
            left_s = None if end_s is None else end_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return False
            ready = [fd for fd, _ in poll.poll(None if left_s is None else left_s * 1000)]
            if self._woken in ready:
                os.read(self._woken, 64)
            if stream.fileno() in ready:
                return True


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


@contextlib.contextmanager
def pass_signals(*, to_users_program: bool = False) -> Iterator[Signals]:
    """Pass signals on while the block runs, then handle them.

    Args:
        to_users_program: Pass on all signals, as the shell would; `Signals.ending` then says
            whether one asked for the end. Else those that ask for it are passed on alone, and raise
            what `raise_for` does.
    """
    if threading.current_thread() is not threading.main_thread():
        yield Signals()
        return
    with _woken() as woken:
        signals = Signals(woken)
        wanted = PASSED_ON if to_users_program else ENDING
        caught = [number for number in wanted if _is_free(number)]
        before = {number: signal.signal(number, signals.handle) for number in caught}
        try:
            yield signals
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            if not to_users_program:
                raise_for(signals.ending)


def _is_free(number: int) -> bool:
    """Whether a signal may be caught: one that is ignored (nohup) stays ignored."""
    handler = signal.getsignal(number)
    if number in ENDING:
        return handler not in (signal.SIG_IGN, None)
    return handler in (signal.SIG_DFL, do_nothing)


def raise_for(number: int | None) -> None:
    """Raise what ends this process after a signal; nothing where there was none.

    Raises:
        KeyboardInterrupt: After SIGINT.
        SystemExit: After another, with 128 + its number.
    """
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    if number is not None:
        raise SystemExit(128 + number)


@contextlib.contextmanager
def _woken() -> Iterator[int]:
    """A file descriptor that can be read when a signal has arrived, in whichever thread."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
