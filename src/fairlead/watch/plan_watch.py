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
from fairlead.watch.drift import drifted_pairs

__all__ = ["CONFIRMING_ROUNDS", "DriftedPair", "PlanWatcher", "program_rates"]

CONFIRMING_ROUNDS = 3
"""A pair has drifted when it did in so many observations one after another: a single one may have
met a burst of other messages."""

HOSTS_AT_A_TIME = 3
"""Starting three processes takes a fraction of the time of starting all, and gives three pairs."""

ENOUGH_DIFFERENCES = 6
"""Of so many values and their successors the noise is known better than from single intervals:
where hosts are busy, messages wait and arrive at once, and the interval of a value tells that."""

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
            their first observation.
        now_Bps: The last observations, shape (H, H), [src, dst]; `nan` where none.
        num_rounds: Observations so far.
    """

    def __init__(self, planned: Network, program_Bps: Matrix | None = None):
        """Nothing is observed yet.

        Args:
            planned: Of all hosts of the plan; `nan` where unknown.
            program_Bps: What the program itself sends over the interfaces of each pair, shape
                (H, H): by so much an observation may be lower, and nothing has changed.
        """
        shape = planned.bandwidth_Bps.shape
        self.planned = planned
        self.now_Bps: Matrix = np.full(shape, np.nan)
        self.num_rounds = 0
        self._program_Bps = np.zeros(shape) if program_Bps is None else program_Bps
        self._rounds_of_pair = np.zeros(shape, dtype=np.int64)
        self._observations_of_host = np.zeros(shape[0], dtype=np.int64)
        self._differences: deque[float] = deque(maxlen=REMEMBERED_DIFFERENCES)

    def add(self, now: Network) -> None:
        """Take an observation.

        Args:
            now: Of some of the hosts; `nan` where nothing was measured.
        """
        places = np.array([self.planned.index(host) for host in now.hosts])
        grid = np.ix_(places, places)
        is_seen = np.isfinite(now.bandwidth_Bps) & ~np.eye(now.num_hosts, dtype=bool)
        with np.errstate(invalid="ignore"):
            differences = np.abs(np.log(now.bandwidth_Bps / self.now_Bps[grid]))
        self._differences.extend(differences[is_seen & np.isfinite(differences)].tolist())
        self.now_Bps[grid] = np.where(is_seen, now.bandwidth_Bps, self.now_Bps[grid])
        self._add_unknown(now, is_seen, grid)
        before = self.planned.select(now.hosts)
        without_program_Bps = np.minimum(
            np.maximum(before.bandwidth_Bps, now.bandwidth_Bps),
            now.bandwidth_Bps + self._program_Bps[grid],
        )
        alone = dataclasses.replace(now, bandwidth_Bps=without_program_Bps)
        is_drifted = drifted_pairs(before, alone, self._spread())
        rounds = self._rounds_of_pair[grid]
        counted = np.where(is_drifted, rounds + 1, 0)
        self._rounds_of_pair[grid] = np.where(is_seen | is_seen.T, counted, rounds)
        self._observations_of_host[places] += 1
        self.num_rounds += 1

    def _spread(self) -> float | None:
        """Standard deviation of the logarithm of a value, by how far the next ones are from it.

        Pairs that have changed are too few to count in the median. None while little is known.
        """
        if len(self._differences) < ENOUGH_DIFFERENCES:
            return None
        return float(np.median(self._differences) / (NORMAL_MEDIAN * np.sqrt(2)))

    def _add_unknown(
        self, now: Network, is_seen: npt.NDArray[np.bool_], grid: tuple[npt.NDArray[np.intp], ...]
    ) -> None:
        """Let the first observation of a pair that the plan does not have stand for the plan's."""
        planned_Bps = self.planned.bandwidth_Bps.copy()
        is_first = is_seen & np.isnan(planned_Bps[grid])
        planned_Bps[grid] = np.where(is_first, now.bandwidth_Bps, planned_Bps[grid])
        self.planned = dataclasses.replace(self.planned, bandwidth_Bps=planned_Bps)

    @property
    def is_stale(self) -> bool:
        """Whether a pair has drifted for certain."""
        return bool(np.any(self._rounds_of_pair >= CONFIRMING_ROUNDS))

    def drifted(self) -> list[DriftedPair]:
        """The pairs that have drifted for certain, the one that changed most first."""
        return self._named(self._rounds_of_pair >= CONFIRMING_ROUNDS)

    def changed(self, most: int) -> list[DriftedPair]:
        """Observed pairs, drifted or not, the one that changed most first."""
        return self._named(np.isfinite(self.now_Bps))[:most]

    def _named(self, chosen: npt.NDArray[np.bool_]) -> list[DriftedPair]:
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
        """The hosts to measure next: a pair that may have drifted, else the hosts least known."""
        doubtful = (self._rounds_of_pair > 0) & (self._rounds_of_pair < CONFIRMING_ROUNDS)
        pairs = np.argwhere(doubtful)
        if pairs.size:
            return [self.planned.hosts[place] for place in pairs[0]]
        tie = np.random.default_rng(seed).permutation(self.planned.num_hosts)
        order = np.lexsort((tie, self._observations_of_host))
        return [self.planned.hosts[place] for place in order[:HOSTS_AT_A_TIME]]


def program_rates(traffic: Traffic, placement: Placement, hosts: Sequence[str]) -> Matrix:
    """What a placed program sends over the interfaces of each pair of hosts, as an average.

    Args:
        traffic: Of the program; without a run time nothing is known.
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
    sent = traffic.total.bytes.tocoo()
    src, dst = host_of_rank[sent.row], host_of_rank[sent.col]
    between = np.zeros((num_hosts, num_hosts))
    np.add.at(between, (src, dst), sent.data)
    np.fill_diagonal(between, 0.0)
    out_bytes, in_bytes = between.sum(axis=1), between.sum(axis=0)
    busier: Matrix = np.maximum(out_bytes[:, None], in_bytes[None, :])
    return np.asarray(busier / traffic.run_time_s)
