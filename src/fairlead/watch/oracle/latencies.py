# SPDX-License-Identifier: Apache-2.0
"""Latencies as they were measured last: kept in a file, or probed again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from fairlead.errors import Error
from fairlead.model.network import Network
from fairlead.watch.oracle.collecting import Reporter

__all__ = ["LatencyFile", "Prober"]


class LatencyFile:
    """The network of a file, read again when that changes."""

    def __init__(self, path: Path, report: Reporter):
        """The file as it is now.

        Args:
            path: A network, as `fairlead probe` writes it.
            report: Gets a line when it cannot be read any more, and when it can again.

        Raises:
            InputError: It is no network.
        """
        self._path = path
        self._report = report
        self._network = Network.load(path)
        self._stamp = path.stat().st_mtime_ns
        self._problem: str | None = None

    def __call__(self) -> Network:
        """The network; the last one that could be read where the file is gone or damaged."""
        try:
            stamp = self._path.stat().st_mtime_ns
            if stamp != self._stamp:
                self._network, self._stamp = Network.load(self._path), stamp
        except (Error, OSError) as error:
            if self._problem is None:
                self._report(f"{error}; answering with the latencies that were read before")
            self._problem = str(error)
            return self._network
        if self._problem is not None:
            self._report(f"{self._path}: can be read again")
        self._problem = None
        return self._network


class Prober:
    """The network between a few hosts as the last probe measured it."""

    def __init__(self, probe: Callable[[], Network], report: Reporter):
        """A prober that has measured nothing yet.

        Args:
            probe: Measures.
            report: Gets a line when that fails, and when it works again.
        """
        self._probe = probe
        self._report = report
        self._network: Network | None = None
        self._problem: str | None = None
        self._is_over = threading.Event()

    def __call__(self) -> Network | None:
        """What was measured last; None where the last probe failed."""
        return self._network

    def measure(self) -> None:
        """One probe."""
        try:
            self._network = self._probe()
        except (Error, OSError) as error:
            self._network = None
            if self._problem is None:
                self._report(f"probe: {error}; retrying")
            self._problem = str(error)
            return
        if self._problem is not None:
            self._report("probe: works again")
        self._problem = None

    def run(self, every_s: float) -> None:
        """Probe in a thread of its own, until this process ends or `stop`."""

        def measure_until_end() -> None:
            self.measure()
            while not self._is_over.wait(every_s):
                self.measure()

        threading.Thread(target=measure_until_end, name="oracle-prober", daemon=True).start()

    def stop(self) -> None:
        """Probe no more."""
        self._is_over.set()
