# SPDX-License-Identifier: Apache-2.0
"""Signals that come while programs run: handed on to them, and acted on afterwards."""

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

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class HasFileno(Protocol):
    """What the kernel can wait for."""

    def fileno(self) -> int:
        """Its file descriptor."""


class Signals:
    """Signals that came while programs ran."""

    def __init__(self, woken: int | None = None) -> None:
        self.received: list[int] = []
        self._pids: list[int] = []
        self._woken = woken

    def attach(self, pid: int) -> None:
        """From now on signals go to this process too; those that came before are handed on now."""
        self._pids.append(pid)
        for number in self.received:
            _send(pid, number)

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Hand a signal on."""
        self.received.append(number)
        for pid in self._pids:
            _send(pid, number)

    def wait_for(self, stream: HasFileno, timeout_s: float | None = None) -> bool:
        """Wait until a stream can be read, handing signals on meanwhile; false when time is over.

        A call that blocks, such as waitpid, would keep a signal from being handed on: it is only
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
def passing_signals() -> Iterator[Signals]:
    """Pass signals on while the block runs, then act on them.

    SIGINT becomes KeyboardInterrupt, the others SystemExit(128 + signal).
    """
    if threading.current_thread() is not threading.main_thread():
        yield Signals()
        return
    with _woken() as woken:
        signals = Signals(woken)
        # A signal that is ignored (nohup) stays ignored.
        caught = [n for n in FORWARDED if signal.getsignal(n) != signal.SIG_IGN]
        before = {number: signal.signal(number, signals.handle) for number in caught}
        try:
            yield signals
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            if signals.received:
                first = signals.received[0]
                if first == signal.SIGINT:
                    raise KeyboardInterrupt
                raise SystemExit(128 + first)


@contextlib.contextmanager
def _woken() -> Iterator[int]:
    """A file descriptor that can be read when a signal has come, whichever thread took it."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
