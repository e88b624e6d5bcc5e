# SPDX-License-Identifier: Apache-2.0
"""Compares what a plan was made from with what is observed while the program runs.

Placements, collectives and relays are all decided on one network, so that one watcher serves them.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.watch.drift import DRIFT_RATIO, noise_of_change
from fairlead.watch.drift_evidence import DriftEvidence

__all__ = ["CONFIRMING_ROUNDS", "DriftedPair", "PlanWatcher", "program_rates"]

CONFIRMING_ROUNDS = 3
"""A pair has drifted when it did in at least so many observations one after another: a single one
may have met a burst of other messages."""

CONFIRMING_SHARED_ROUNDS = 8
"""The same where all pairs observed together have changed: a machine that is busy for some seconds
does that."""

FIRST_OBSERVATIONS = 3
"""Observations of a pair that the plan lacks, whose median stands for the plan: a single one may
be an accident, and all later ones would seem to have changed."""

FEWEST_TO_COMPARE = 3
"""Hosts: with two there is one pair alone, and nothing to compare it with."""

MOST_IN_A_ROW = 8
"""Strength up to which a doubtful pair is observed each time, and beyond it every other time: where
accidents come in long runs, all observations would go to one pair."""

HOSTS_AT_A_TIME = 3
"""Starting three processes takes a fraction of the time of starting all, and gives three pairs."""

ENOUGH_DIFFERENCES = 6
"""From so many values and their successors the noise is known better than from single intervals:
where hosts are busy, messages wait and arrive at once, and the interval of a value shows it."""

REMEMBERED_DIFFERENCES = 300

NORMAL_MEDIAN = 0.674490
"""Standard normal quantile of 0.75: the median of absolute values."""

Matrix = npt.NDArray[np.float64]


class DriftedPair(NamedTuple):
    """A pair that has changed by more than `DRIFT_RATIO`.

    Attributes:
        src, dst: Names of the hosts.
        planned_Bps: Bandwidth that the plan was made from.
        now_Bps: The last one observed.
    """

    src: str
    dst: str
    planned_Bps: float
    now_Bps: float


class PlanWatcher:
    """Compares observations with the network of a plan.

    Attributes:
        planned: Bandwidths that the plan was made from; pairs it does not have are compared with
            what is usual for them.
        now_Bps: The last observations, shape (H, H), [src, dst]; `nan` where none.
        num_rounds: Observations so far.
    """

    def __init__(self, planned: Network, program_Bps: Matrix | None = None):
        """Nothing is observed yet.

        Args:
            planned: Network of all hosts of the plan; `nan` where unknown.
            program_Bps: What the program itself sends over the interfaces of each pair, shape
                (H, H): by so much an observation may be lower, and nothing has changed.
        """
        shape = planned.bandwidth_Bps.shape
        self.planned = dataclasses.replace(planned, bandwidth_Bps=planned.bandwidth_Bps.copy())
        self.now_Bps: Matrix = np.full(shape, np.nan)
        self.num_rounds = 0
        self._program_Bps = np.zeros(shape) if program_Bps is None else program_Bps
        self._pairs = DriftEvidence(shape, CONFIRMING_ROUNDS)
        self._all = DriftEvidence((1,), CONFIRMING_SHARED_ROUNDS)
        self._observations_of_host = np.zeros(shape[0], dtype=np.int64)
        self._differences: deque[float] = deque(maxlen=REMEMBERED_DIFFERENCES)
        self._is_unknown = np.isnan(planned.bandwidth_Bps)
        self._last_of_pair: dict[tuple[int, int], deque[float]] = {}

    def add(self, now: Network) -> None:
        """Take an observation.

        Args:
            now: Network of some of the hosts; `nan` where nothing was measured.
        """
        places = np.array([self.planned.index(host) for host in now.hosts])
        grid = np.ix_(places, places)
        is_seen = np.isfinite(now.bandwidth_Bps) & ~np.eye(now.num_hosts, dtype=bool)
        seen_Bps = np.where(is_seen, now.bandwidth_Bps, np.nan)
        with np.errstate(invalid="ignore"):
            differences = np.abs(np.log(seen_Bps / self.now_Bps[grid]))
        self._differences.extend(differences[np.isfinite(differences)].tolist())
        self.now_Bps[grid] = np.where(is_seen, seen_Bps, self.now_Bps[grid])
        self._add_unknown(seen_Bps, grid)
        before = self.planned.select(now.hosts)
        noise = noise_of_change(before, now, self._spread())
        change = _change(before.bandwidth_Bps, seen_Bps, self._program_Bps[grid])
        shared = _common_change(change)
        self._pairs.add(grid, change, _without(change, shared), noise)
        if now.num_hosts >= FEWEST_TO_COMPARE:
            typical = np.array([np.nanmedian(noise)])
            self._all.add(np.ix_([0]), np.array([shared]), np.array([shared]), typical)
        self._observations_of_host[places] += 1
        self.num_rounds += 1

    def _spread(self) -> float | None:
        """Standard deviation of the logarithm of a value, by how far the next ones are from it.

        Pairs that have changed are too few to count in the median. None while little is known.
        """
        if len(self._differences) < ENOUGH_DIFFERENCES:
            return None
        return float(np.median(self._differences) / (NORMAL_MEDIAN * np.sqrt(2)))

    def _add_unknown(self, seen_Bps: Matrix, grid: tuple[npt.NDArray[np.intp], ...]) -> None:
        """Let the usual value of pairs that the plan does not have stand for the plan's.

        It grows, as the first ones may all have been accidents: most of these are slow.
        """
        places = [part.ravel() for part in grid]
        for src, dst in np.argwhere(np.isfinite(seen_Bps) & self._is_unknown[grid]):
            pair = int(places[0][src]), int(places[1][dst])
            last = self._last_of_pair.setdefault(pair, deque(maxlen=FIRST_OBSERVATIONS))
            least_Bps = self.planned.bandwidth_Bps[pair] if len(last) == last.maxlen else 0.0
            last.append(float(seen_Bps[src, dst]))
            usual_Bps = float(np.median(last))
            self.planned.bandwidth_Bps[pair] = max(least_Bps, usual_Bps)

    @property
    def is_stale(self) -> bool:
        """Whether a pair, or all of them, has drifted for certain."""
        return bool(self._pairs.is_certain.any() or self._all.is_certain.any())

    def drifted(self) -> list[DriftedPair]:
        """The pairs that have drifted for certain, the one that changed most first."""
        is_drifted = self._pairs.is_certain
        if self._all.is_certain.any():
            with np.errstate(invalid="ignore"):
                change = np.abs(np.log(self.now_Bps / self.planned.bandwidth_Bps))
            is_drifted = is_drifted | (change > np.log1p(DRIFT_RATIO))
        return self._pairs_of(is_drifted | is_drifted.T)

    def changed(self, most: int) -> list[DriftedPair]:
        """Observed pairs, drifted or not, the one that changed most first."""
        return self._pairs_of(np.isfinite(self.now_Bps))[:most]

    def _pairs_of(self, chosen: npt.NDArray[np.bool_]) -> list[DriftedPair]:
        hosts, planned_Bps = self.planned.hosts, self.planned.bandwidth_Bps
        named = [
            DriftedPair(
                hosts[src], hosts[dst],
                float(planned_Bps[src, dst]), float(self.now_Bps[src, dst]),
            )
            for src, dst in np.argwhere(chosen & np.isfinite(self.now_Bps))
        ]  # fmt: skip
        return sorted(named, key=lambda pair: -abs(np.log(pair.now_Bps / pair.planned_Bps)))

    def hot_hosts(self) -> list[tuple[str, float]]:
        """Hosts whose pairs have lost bandwidth, and the median of what is left, worst first."""
        left_ratio = self.now_Bps / self.planned.bandwidth_Bps
        found = []
        for place, host in enumerate(self.planned.hosts):
            pairs = np.concatenate([left_ratio[place], left_ratio[:, place]])
            pairs = pairs[np.isfinite(pairs)]
            if pairs.size and np.median(pairs) < 1:
                found.append((host, float(np.median(pairs))))
        return sorted(found, key=lambda each: each[1])

    def next_hosts(self, seed: int) -> list[str]:
        """The hosts to measure next: the pair that may have drifted, then the hosts least known.

        A further host shows whether all are slow at this moment.
        """
        tie = np.random.default_rng(seed).permutation(self.planned.num_hosts)
        chosen = np.lexsort((tie, self._observations_of_host)).tolist()
        strength = np.where(self._pairs.is_certain, 0, self._pairs.strength)
        if strength.any() and (strength.max() < MOST_IN_A_ROW or self.num_rounds % 2):
            doubtful = np.unravel_index(int(np.argmax(strength)), strength.shape)
            chosen = [*map(int, doubtful), *(place for place in chosen if place not in doubtful)]
        return [self.planned.hosts[place] for place in chosen[:HOSTS_AT_A_TIME]]


def _change(before_Bps: Matrix, now_Bps: Matrix, program_Bps: Matrix) -> Matrix:
    """Logarithm of what is left, what the program itself sends not taken for a loss."""
    without_program_Bps = np.minimum(np.fmax(before_Bps, now_Bps), now_Bps + program_Bps)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.log(without_program_Bps / before_Bps))


def _common_change(change: Matrix) -> float:
    """What all pairs have in common: the least change where all went one way, else 0.

    Not the median: where one of three hosts is slow, two of three pairs are.
    """
    if len(change) < FEWEST_TO_COMPARE:
        return 0.0
    other = change.T
    of_pair = np.where(np.abs(other) > np.abs(change), other, change)
    of_pair = of_pair[np.isfinite(of_pair)]
    if not of_pair.size or (of_pair.min() < 0 < of_pair.max()):
        return 0.0
    return float(of_pair[np.argmin(np.abs(of_pair))])


def _without(change: Matrix, shared: float) -> Matrix:
    """The changes without what is shared; what went less far has none of its own."""
    beyond = np.maximum(np.abs(change) - abs(shared), 0)
    is_alike = np.sign(change) == np.sign(shared)
    return np.where(is_alike, np.sign(change) * beyond, change)


def program_rates(traffic: Traffic, placement: Placement, hosts: Sequence[str]) -> Matrix:
    """What a placed program sends over the interfaces of each pair of hosts, as an average.

    Args:
        traffic: Traffic of the program; without a run time nothing is known.
        placement: Its ranks.
        hosts: Length H.

    Returns:
        Bytes per second, shape (H, H), [src, dst]: the larger of what src sends and dst receives.
    """
    num_hosts = len(hosts)
    if not traffic.run_time_s > 0:
        return np.zeros((num_hosts, num_hosts))
    place_of = {host: place for place, host in enumerate(hosts)}
    host_of_rank = np.array([place_of[name] for name in placement.host_names()])
    sent = traffic.carried.bytes.tocoo()
    src, dst = host_of_rank[sent.row], host_of_rank[sent.col]
    between = np.zeros((num_hosts, num_hosts))
    np.add.at(between, (src, dst), sent.data)
    np.fill_diagonal(between, 0.0)
    out_bytes, in_bytes = between.sum(axis=1), between.sum(axis=0)
    busier: Matrix = np.maximum(out_bytes[:, None], in_bytes[None, :])
    return np.asarray(busier / traffic.run_time_s)
