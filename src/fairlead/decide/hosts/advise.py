# SPDX-License-Identifier: Apache-2.0
"""`advise`: which hosts are bad, whether to leave them out, how many are enough, the cheapest."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from fairlead.decide.expected_gain import Gain, expected_gain
from fairlead.decide.hosts.bad_hosts import BadHost, find_bad_hosts
from fairlead.decide.hosts.prices import check_prices
from fairlead.decide.hosts.trials import HostSet, Question, Trials, by_price, by_time
from fairlead.decide.placement import DEFAULT_OBJECTIVE, require_method
from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.cost import Cost
from fairlead.model.network import Network
from fairlead.model.straggler_rule import Straggler, stragglers
from fairlead.model.traffic import Traffic
from fairlead.narrator import Progress
from fairlead.units import format_duration

__all__ = ["ENOUGH_RATIO", "Advice", "HostAdvice", "LeavingOut", "advise"]

ENOUGH_RATIO = 0.05
"""Fewer hosts are enough if they are predicted to take at most this much longer."""


@dataclasses.dataclass(frozen=True, eq=False)
class LeavingOut:
    """The expected effect of leaving out the bad hosts.

    Attributes:
        hosts: The bad hosts.
        missing_slots: Slots that the other hosts lack; 0 if they hold all ranks.
        num_ranks: Ranks that the placement on all hosts puts on them.
        host_set: The ranks on the other hosts; None if they have no room.
        bottleneck_gain, comm_time_gain: Saving against all hosts with the same method, under the
            noise of the measurement; None if there is no room.
    """

    hosts: tuple[str, ...]
    num_ranks: int
    missing_slots: int = 0
    host_set: HostSet | None = None
    bottleneck_gain: Gain | None = None
    comm_time_gain: Gain | None = None

    @property
    def helps(self) -> bool:
        """Whether `bottleneck_s` falls beyond the noise, and `comm_time_s` does not rise."""
        return (
            self.bottleneck_gain is not None
            and self.comm_time_gain is not None
            and self.bottleneck_gain.is_beyond_noise
            and self.comm_time_gain.high_ratio >= 0
        )


@dataclasses.dataclass(frozen=True, eq=False)
class HostAdvice:
    """Which of the hosts to use for one program.

    Attributes:
        method: Mapping method of all sets.
        run_time_s: Run time of the traced run; `nan` where unknown.
        traced: Predicted cost of the traced run: the launcher's placement on all hosts.
        rest_s: Part of the run time that no placement changes; `nan` where unknown.
        all_hosts: The ranks on all hosts.
        leaving_out: The effect of leaving out the bad hosts; None if there are none.
        best_of_size: The best set found for each number of hosts, ascending.
        enough: The smallest of them that is about as good as the best.
        wanted_time_s: The time that was asked for, or None.
        wanted: The cheapest set within that time, without prices the one with the fewest
            hosts; without a time the cheapest of all; None where neither was given.
    """

    method: str
    run_time_s: float
    traced: Cost
    rest_s: float
    all_hosts: HostSet
    leaving_out: LeavingOut | None
    best_of_size: tuple[HostSet, ...]
    enough: HostSet
    wanted_time_s: float | None
    wanted: HostSet | None

    def left_out(self, host_set: HostSet) -> tuple[str, ...]:
        """Hosts that this set does without."""
        return tuple(host for host in self.all_hosts.hosts if host not in host_set.hosts)


@dataclasses.dataclass(frozen=True, eq=False)
class Advice:
    """What `advise` found.

    Attributes:
        network: The network.
        bad_hosts: Those with the strongest evidence first.
        stragglers: Those that compute slower than the others, the slowest first.
        hosts: Which hosts to use; None where no traffic was given.
    """

    network: Network
    bad_hosts: tuple[BadHost, ...]
    stragglers: tuple[Straggler, ...]
    hosts: HostAdvice | None


def advise(
    network: Network,
    traffic: Traffic | None = None,
    cluster: Cluster | None = None,
    *,
    prices: Mapping[str, float] | None = None,
    wanted_time_s: float | None = None,
    method: str = "scotch-best",
    metric: str = "bytes",
    objective: str = DEFAULT_OBJECTIVE,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Advice:
    """Judge the hosts of a network, and with traffic which of them a program should use.

    Args:
        network: Measurements; must hold all hosts of the cluster, may hold more.
        traffic: What the ranks send one another; None only looks for bad hosts.
        cluster: Hosts and slots in the order of the traced run; needed with traffic.
        prices: Prices of each host of the cluster per hour.
        wanted_time_s: Time that a run may take from the end of MPI_Init to MPI_Finalize.
        method: Method of every placement, as for `fairlead.place`; likewise the next three.
        metric: How traffic is weighted.
        objective: The objective that selects among the placements of the method.
        seed: Where random numbers start.
        on_progress: Called with the sets of hosts tried and all sets to try.

    Raises:
        InputError: A price or the wanted time is not usable, no set of hosts meets the wanted time
            (the message names the best one), or the run time is needed and unknown.
        TopologyError: There is one host only, the ranks do not fit, a host is not in the network,
            or a pair of the cluster was not measured.
    """
    if cluster is not None:
        network = network.select(cluster.hosts)
    if network.num_hosts < 2:
        raise TopologyError("advise: one host leaves nothing to choose; two or more are needed")
    bad_hosts = tuple(find_bad_hosts(network))
    slow = () if network.host_rates is None else tuple(stragglers(network.host_rates))
    if traffic is None:
        if prices is not None or wanted_time_s is not None:
            raise InputError("prices and a wanted time need the traffic of a program")
        return Advice(network, bad_hosts, slow, None)
    if cluster is None:
        raise InputError("a traffic needs a cluster: which hosts there are, and with which slots")
    require_method(method)
    _require_usable(network, traffic, cluster, wanted_time_s, prices is not None)
    checked = None if prices is None else check_prices(prices, cluster.hosts)
    question = Question(traffic, network, cluster, checked, method, metric, objective, seed)
    # In the order of the evidence, each once.
    named = dict.fromkeys([bad.host for bad in bad_hosts])
    left_out = (*named, *(h for s in slow if (h := network.hosts[s.host]) not in named))
    hosts = _host_advice(question, left_out, wanted_time_s, on_progress)
    return Advice(network, bad_hosts, slow, hosts)


def _require_usable(
    network: Network,
    traffic: Traffic,
    cluster: Cluster,
    wanted_time_s: float | None,
    has_prices: bool,
) -> None:
    cluster.require_room_for(traffic.num_ranks)
    if wanted_time_s is not None and not (math.isfinite(wanted_time_s) and wanted_time_s > 0):
        raise InputError(f"wanted time: must be finite and > 0 s, got {wanted_time_s}")
    if (has_prices or wanted_time_s is not None) and math.isnan(traffic.run_time_s):
        raise InputError(
            "traffic: its run time is unknown, so neither a price nor a time can be predicted; "
            "trace the program again"
        )
    network.require_measured("probe again, or leave the host out of the cluster")


def _host_advice(
    question: Question,
    bad_hosts: tuple[str, ...],
    wanted_time_s: float | None,
    on_progress: Progress | None,
) -> HostAdvice:
    trials = Trials(question)
    all_hosts = trials.host_set(frozenset(question.cluster.hosts))
    leaving_out = _leave_hosts_out(trials, all_hosts, bad_hosts) if bad_hosts else None
    trials.search(on_progress)
    best_of_size = _best_of_size(trials)
    return HostAdvice(
        method=question.method,
        run_time_s=question.traffic.run_time_s,
        traced=trials.traced,
        rest_s=trials.rest_s,
        all_hosts=all_hosts,
        leaving_out=leaving_out,
        best_of_size=best_of_size,
        enough=_enough(question, best_of_size),
        wanted_time_s=wanted_time_s,
        wanted=_find_wanted(trials, wanted_time_s),
    )


def _leave_hosts_out(trials: Trials, all_hosts: HostSet, bad: tuple[str, ...]) -> LeavingOut:
    others = frozenset(all_hosts.hosts) - set(bad)
    question = trials.question
    num_ranks = sum(len(all_hosts.placement.ranks_on(host)) for host in bad)
    if not others or not trials.have_room(others):
        slots = question.cluster.select(sorted(others)).num_slots if others else 0
        return LeavingOut(bad, num_ranks, missing_slots=question.traffic.num_ranks - slots)
    host_set = trials.host_set(others)
    return LeavingOut(
        hosts=bad,
        num_ranks=num_ranks,
        host_set=host_set,
        bottleneck_gain=_gain(question, host_set, all_hosts, "bottleneck_s"),
        comm_time_gain=_gain(question, host_set, all_hosts, "comm_time_s"),
    )


def _gain(question: Question, host_set: HostSet, baseline: HostSet, cost: str) -> Gain:
    return expected_gain(
        host_set.placement,
        baseline.placement,
        question.traffic,
        question.network,
        question.seed,
        cost=cost,
    )


def _best_of_size(trials: Trials) -> tuple[HostSet, ...]:
    best: dict[int, HostSet] = {}
    for host_set in sorted(trials.predictions(), key=by_time):
        best.setdefault(len(host_set.hosts), host_set)
    return tuple(best[size] for size in sorted(best))


def _enough(question: Question, best_of_size: tuple[HostSet, ...]) -> HostSet:
    """The first whose time is close to the best time, or differs from it by no more than noise."""
    best = min(best_of_size, key=by_time)
    for host_set in best_of_size:
        is_close = host_set.judged_s <= best.judged_s * (1 + ENOUGH_RATIO)
        if is_close or not _gain(question, best, host_set, "bottleneck_s").is_beyond_noise:
            return host_set
    return best


def _find_wanted(trials: Trials, wanted_time_s: float | None) -> HostSet | None:
    has_prices = trials.question.prices is not None
    if wanted_time_s is None:
        return min(trials.predictions(), key=by_price) if has_prices else None
    meeting = [host_set for host_set in trials.predictions() if host_set.time_s <= wanted_time_s]
    if not meeting:
        best = min(
            trials.predictions(), key=lambda host_set: (*by_time(host_set), len(host_set.hosts))
        )
        raise InputError(
            f"no choice of these hosts is predicted to take {format_duration(wanted_time_s)} or "
            f"less; the best takes {format_duration(best.time_s)}, on {', '.join(best.hosts)}"
        )
    if has_prices:
        return min(meeting, key=by_price)
    return min(meeting, key=lambda host_set: (len(host_set.hosts), *by_time(host_set)))
