# SPDX-License-Identifier: Apache-2.0
"""Predictions for the same traffic on subsets of the hosts, and which subsets are tried."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from fairlead.decide.placement import DEFAULT_OBJECTIVE, place
from fairlead.model.cluster import Cluster
from fairlead.model.cost import Cost, evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Progress

__all__ = ["HostSet", "Question", "Trials"]

MOST_SETS = 256
"""Up to this many sets (8 hosts) all are tried, otherwise hosts are left out one by one."""

MOST_CANDIDATES = 16
"""Hosts that are tried in each step of leaving one out: those with the slowest pairs, and, with
prices, as many of the most expensive ones."""

HOUR_S = 3600.0


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """The traffic, the hosts, and how to place.

    Attributes:
        traffic: Traffic of the application, with its run time where that is known.
        network: Measurements for the hosts of the cluster; each pair is measured.
        cluster: All hosts that could be used, in the order of the traced run.
        prices: Prices of each host per hour, or None.
        method, metric, objective, seed: As for `fairlead.place`.
    """

    traffic: Traffic
    network: Network
    cluster: Cluster
    prices: Mapping[str, float] | None = None
    method: str = "scotch-best"
    metric: str = "bytes"
    objective: str = DEFAULT_OBJECTIVE
    seed: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class HostSet:
    """Some of the hosts, with predictions for them.

    Attributes:
        hosts: Host names in the cluster's order.
        placement: Placement of the ranks on these hosts.
        cost: Predicted cost of the placement.
        time_s: Predicted run time; `nan` if the traffic does not have that of the traced run.
        price_per_run: What the hosts cost during that time; `nan` without prices or run time.
    """

    hosts: tuple[str, ...]
    placement: Placement
    cost: Cost
    time_s: float
    price_per_run: float

    @property
    def judged_s(self) -> float:
        """Time for comparing sets: the predicted run time, or `changing_s` without one."""
        return changing_s(self.cost) if math.isnan(self.time_s) else self.time_s


def changing_s(cost: Cost) -> float:
    """The part of a run that depends on the placement; with computing where hosts differ in it."""
    return cost.bottleneck_s if cost.slowest_rank_s is None else cost.slowest_rank_s


Key = Callable[[HostSet], tuple[float, ...]]


def by_time(host_set: HostSet) -> tuple[float, ...]:
    """Faster first; of equal ones the one with less communication."""
    return (host_set.judged_s, host_set.cost.comm_time_s)


def by_price(host_set: HostSet) -> tuple[float, ...]:
    """Cheaper first, then faster."""
    return (host_set.price_per_run, *by_time(host_set))


class Trials:
    """Sets of hosts with their predictions; each is computed once.

    Attributes:
        question: The traffic and all hosts.
        traced: Predicted cost of the traced run, which is taken to be the launcher's placement on
            all hosts.
        rest_s: The part of the traced run time that no placement changes: run time minus
            `changing_s` of the traced run, at least 0; `nan` where the run time is unknown.
    """

    def __init__(
        self,
        question: Question,
        *,
        most_sets: int = MOST_SETS,
        most_candidates: int = MOST_CANDIDATES,
    ) -> None:
        self.question = question
        self._most_sets = most_sets
        self._most_candidates = most_candidates
        launchers = place(question.traffic, question.network, question.cluster, "launcher")
        self.traced = evaluate(launchers, question.traffic, question.network)
        rest_s = question.traffic.run_time_s - changing_s(self.traced)
        self.rest_s = math.nan if math.isnan(rest_s) else max(rest_s, 0.0)
        # The first of several equal sets is kept, so that idle hosts are slow ones.
        self._slowest_first = _slowest_first(question)
        self._set_of_hosts: dict[frozenset[str], HostSet] = {}

    def host_set(self, hosts: frozenset[str]) -> HostSet:
        """The prediction for these hosts."""
        if hosts not in self._set_of_hosts:
            self._set_of_hosts[hosts] = self._predict(hosts)
        return self._set_of_hosts[hosts]

    def predictions(self) -> list[HostSet]:
        """All predictions made so far."""
        return list(self._set_of_hosts.values())

    def have_room(self, hosts: frozenset[str]) -> bool:
        """Whether these hosts have a slot for every rank."""
        cluster = self.question.cluster
        slots = dict(zip(cluster.hosts, cluster.slots, strict=True))
        return sum(slots[host] for host in hosts) >= self.question.traffic.num_ranks

    def search(self, on_progress: Progress | None = None) -> None:
        """Try sets of every size with enough room: all sets of few hosts, a chain of sets of many.

        A chain starts with all hosts and leaves out, in each step, the host without which the
        prediction is best; with prices there is a second chain, by the price of a run.
        """
        hosts = self._slowest_first
        if 2 ** len(hosts) <= self._most_sets:
            sets = [one for one in _subsets(hosts[::-1]) if self.have_room(one)]
            for done, one in enumerate(sets, 1):
                self.host_set(one)
                if on_progress is not None:
                    on_progress(done, len(sets))
            return
        keys: list[Key] = [by_time] if self.question.prices is None else [by_time, by_price]
        for chain, key in enumerate(keys):
            for left_out, _set in enumerate(self._chain(key), 1):
                if on_progress is not None:
                    on_progress(chain * len(hosts) + left_out, len(keys) * len(hosts))

    def _chain(self, key: Key) -> Iterator[HostSet]:
        hosts = frozenset(self.question.cluster.hosts)
        while True:
            yield self.host_set(hosts)
            smaller = [hosts - {host} for host in self._candidates(hosts)]
            fitting = [one for one in smaller if one and self.have_room(one)]
            if not fitting:
                return
            hosts = min(fitting, key=lambda one: key(self.host_set(one)))

    def _candidates(self, hosts: frozenset[str]) -> list[str]:
        """Hosts to try leaving out; of equals, the first one is."""
        slowest = [host for host in self._slowest_first if host in hosts]
        candidates = slowest[: self._most_candidates]
        prices = self.question.prices
        if prices is None:
            return candidates
        dearest = sorted(slowest, key=lambda host: -prices[host])[: self._most_candidates]
        return list(dict.fromkeys([*candidates, *dearest]))

    def _predict(self, hosts: frozenset[str]) -> HostSet:
        asked = self.question
        part = asked.cluster.select([host for host in asked.cluster.hosts if host in hosts])
        placement = place(
            asked.traffic,
            asked.network,
            part,
            asked.method,
            metric=asked.metric,
            objective=asked.objective,
            seed=asked.seed,
        )
        cost = evaluate(placement, asked.traffic, asked.network)
        time_s = self.rest_s + changing_s(cost)
        prices = asked.prices
        per_hour = math.nan if prices is None else sum(prices[host] for host in part.hosts)
        return HostSet(part.hosts, placement, cost, time_s, per_hour * time_s / HOUR_S)


def _slowest_first(question: Question) -> list[str]:
    """Hosts by the median time of an average message over their pairs, in both directions."""
    used = question.network.select(question.cluster.hosts)
    pair_s = used.transfer_s(question.traffic.carried.mean_message_bytes)
    np.fill_diagonal(pair_s, np.nan)
    median_s = np.nanmedian(np.vstack([pair_s, pair_s.T]), axis=0)
    return [question.cluster.hosts[host] for host in np.argsort(-median_s, kind="stable")]


def _subsets(hosts: list[str]) -> Iterator[frozenset[str]]:
    """All sets of at least one host, large ones first, then those of the first hosts."""
    for size in range(len(hosts), 0, -1):
        for chosen in itertools.combinations(hosts, size):
            yield frozenset(chosen)
