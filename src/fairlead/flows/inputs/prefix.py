# SPDX-License-Identifier: Apache-2.0
"""The beginning of a program's run, as far as its traffic needs to be known."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from fairlead.errors import InputError
from fairlead.measure.known_traffic import KnownTraffic
from fairlead.measure.trace_shares import read_shares
from fairlead.model.coverage import Coverage
from fairlead.units import format_duration

__all__ = ["Prefix"]

INTERVAL_S = 1.0
RANKS_PER_SECOND = 100
"""Shares that all ranks together write in a second, as the library has it."""


class Prefix:
    """Ends a traced run when its traffic is known, or at the limit (`measure.trace.EarlyEnd`).

    Attributes:
        interval_s: From one share of a rank to the next.
    """

    def __init__(
        self, limit_s: float, num_ranks: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.interval_s = max(INTERVAL_S, num_ranks / RANKS_PER_SECOND)
        self._limit_s, self._clock = limit_s, clock
        self._seen = KnownTraffic()
        self._started_s = self._looked_s = clock()

    def is_over(self, shares: Path) -> bool:
        """Whether the traffic is known by the shares in this folder, or the time is over."""
        now_s = self._clock()
        if now_s - self._looked_s >= self.interval_s:
            self._looked_s = now_s
            self._look(shares)
        return self._seen.is_known or now_s - self._started_s >= self._limit_s

    def _look(self, shares: Path) -> None:
        try:
            traffic = read_shares(shares)
        except InputError:  # There is none yet.
            return
        coverage = Coverage.of_origin(traffic.origin, traffic.num_ranks)
        if coverage is not None and not coverage.missing:
            self._seen.add(coverage.most_s, traffic.carried.bytes)

    def line(self) -> str:
        """Why it has ended."""
        seen = self._seen
        facts = (
            f"its step has come {seen.repetitions} times, and the last third of its traffic "
            f"differs by {100 * seen.difference:.1f} % from that before"
        )
        if seen.is_known:
            return f"the traffic is known: {facts}"
        limit = (
            f"the limit of {format_duration(self._limit_s)} is reached before the traffic is known"
        )
        return f"{limit}: {facts}" if seen.repetitions else limit
