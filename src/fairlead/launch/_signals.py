# SPDX-License-Identifier: Apache-2.0
"""Signals that come while programs run: handed on to them, and acted on afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Signals that came while programs ran."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._pids: list[int] = []

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


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


@contextlib.contextmanager
def passing_signals() -> Iterator[Signals]:
    """Pass signals on while the block runs, then act on them.

    SIGINT becomes KeyboardInterrupt, the others SystemExit(128 + signal).
    """
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
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
