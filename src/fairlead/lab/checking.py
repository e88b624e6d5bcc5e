# SPDX-License-Identifier: Apache-2.0
"""Checks with short transfers whether the built network has the requested rates."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from fairlead.lab.shaping import MTU_BYTES
from fairlead.lab.topology import Matrix, Topology
from fairlead.narrator import Progress

__all__ = ["WrongPair", "check_rates", "pairs_to_check"]

PAYLOAD_RATIO = (MTU_BYTES - 52) / (MTU_BYTES + 14)
"""TCP payload per byte on the wire: 20 bytes IP, 20 TCP, 12 time stamps, 14 Ethernet."""

_TOLERANCE_RATIO = 0.10
_MAX_TOGETHER_Bps = 275e6
"""Rate that two cores handle easily; above it a check would measure the machine."""
_MAX_PAIRS = 90
_TRIES_S = (0.06, 0.15, 0.5)
"""Seconds per transfer. A pair that looks wrong is checked again, alone and longer, since a busy
machine causes slow transfers and a burst causes fast ones."""
_WARM_UP_S = 0.03
_ROUND_TRIPS = 8
"""Round trips until a CUBIC stream fills a fast link with a long delay: its window doubles in
each."""
_BUDGET_S = 10.0
"""After this time no pair is checked again."""

Measure = Callable[[list[tuple[int, int]], float, float], list[float]]


@dataclasses.dataclass(frozen=True)
class WrongPair:
    """A directed pair whose rate is off by more than a tenth."""

    src: str
    dst: str
    shaped_Bps: float
    measured_Bps: float


def check_rates(
    topology: Topology, measure: Measure, on_progress: Progress | None = None
) -> tuple[Matrix, list[WrongPair]]:
    """Measure pairs, several at once if they share no link.

    Args:
        topology: The rates to expect.
        measure: Runs streams at the same time: pairs, warm-up and duration in seconds; returns
            payload bytes per second.
        on_progress: Called with the pairs done and the pairs in all.

    Returns:
        Rate on the wire of each measured pair in bytes per second, shape (H, H), [src, dst],
        `nan` where not measured; and the pairs that are wrong.
    """
    shaped_Bps = topology.shaped_Bps()
    measured_Bps = np.full_like(shaped_Bps, np.nan)
    pairs = pairs_to_check(shaped_Bps)
    suspects = pairs
    end_s = time.monotonic() + _BUDGET_S
    for number, seconds in enumerate(_TRIES_S):
        rounds = _rounds(topology, suspects) if number == 0 else [[pair] for pair in suspects]
        for together in rounds:
            if number > 0 and time.monotonic() > end_s:
                break
            # The rate of a stream grows with each round trip.
            farthest_s = max(float(topology.delay_s[pair]) for pair in together)
            warm_up_s = _WARM_UP_S + _ROUND_TRIPS * 2 * farthest_s
            for pair, rate in zip(together, measure(together, warm_up_s, seconds), strict=True):
                measured_Bps[pair] = rate / PAYLOAD_RATIO
            if on_progress is not None:
                on_progress(int(np.sum(~np.isnan(measured_Bps))), len(pairs))
        off = np.abs(measured_Bps / shaped_Bps - 1) > _TOLERANCE_RATIO
        suspects = [pair for pair in suspects if off[pair]]
    wrong = [
        WrongPair(topology.hosts[s], topology.hosts[d], shaped_Bps[s, d], measured_Bps[s, d])
        for s, d in suspects
    ]
    return measured_Bps, wrong


def pairs_to_check(shaped_Bps: Matrix) -> list[tuple[int, int]]:
    """All pairs that are not cut; of many, some of each host, both ways, near and far."""
    num_hosts = len(shaped_Bps)
    pairs = [
        (src, (src + step) % num_hosts) for step in range(1, num_hosts) for src in range(num_hosts)
    ]
    pairs = [pair for pair in pairs if shaped_Bps[pair] > 0]
    random = np.random.default_rng(0)
    if len(pairs) > _MAX_PAIRS:
        first, rest = pairs[:num_hosts], pairs[num_hosts:]
        kept = random.permutation(len(rest))[: max(_MAX_PAIRS - num_hosts, 0)]
        pairs = first + [rest[index] for index in kept]
    return pairs


def _rounds(topology: Topology, pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Groups of pairs that share no link, the slowest first; each group fits the machine."""
    shaped_Bps = topology.shaped_Bps()
    waiting = sorted(pairs, key=lambda pair: float(shaped_Bps[pair]))
    rounds = []
    while waiting:
        busy: set[str] = set()
        together: list[tuple[int, int]] = []
        left = []
        total_Bps = 0.0
        for pair in waiting:
            links = topology.links(*pair)
            fits = not together or total_Bps + shaped_Bps[pair] <= _MAX_TOGETHER_Bps
            if fits and busy.isdisjoint(links):
                together.append(pair)
                busy.update(links)
                total_Bps += float(shaped_Bps[pair])
            else:
                left.append(pair)
        rounds.append(together)
        waiting = left
    return rounds
