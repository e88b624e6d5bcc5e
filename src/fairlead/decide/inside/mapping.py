# SPDX-License-Identifier: Apache-2.0
"""Maps ranks to the places inside their hosts, by the methods that map them to hosts."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.decide.inside.places import HostPlaces, common_list
from fairlead.decide.placement import COST_OF_OBJECTIVE, place
from fairlead.errors import TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.cost import evaluate, evaluate_on_tree
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["METHODS_INSIDE", "InsideMapping", "map_inside", "map_inside_alike"]

METHODS_INSIDE = ("optimize", "scotch", "scotch-best")
"""Methods that use traffic and network both, so that they have a use for the inside."""

MAPPING_S = 0.5
"""Most time of `optimize` for all hosts together."""

MAPPING_S_PER_RANK = 0.004
"""Time of `optimize` for a host: grids of 64 ranks are then mapped in the best way."""

LEAST_MAPPING_S = 0.005

MOST_SEARCHED_HOSTS = 8
"""With more hosts to map, Scotch alone maps each: it takes about 20 ms for 64 ranks."""

MOST_MAPPING_S = 5.0
"""Hosts that are not mapped by then keep the launcher's order."""

Ints = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class InsideMapping:
    """The CPUs of all ranks.

    Attributes:
        lists: List of each rank, in the form of cpuset(7).
        before_s: Predicted time of the messages inside the host that takes longest, with the
            launcher's order of places; on hosts without rates the sum of levels that messages
            cross, by bytes.
        after_s: The same with these lists.
        num_hosts: Hosts on which ranks have other places than by the launcher.
    """

    lists: tuple[str, ...]
    before_s: float
    after_s: float
    num_hosts: int

    @property
    def is_changed(self) -> bool:
        """Whether any rank has other CPUs than by the launcher."""
        return self.num_hosts > 0


@dataclasses.dataclass(frozen=True)
class _Asked:
    """How places are found."""

    method: str
    metric: str
    objective: str
    seed: int
    time_limit_s: float


def map_inside(
    hosts: Sequence[HostPlaces],
    lists: Sequence[str],
    traffic: Traffic,
    *,
    method: str = "optimize",
    metric: str = "bytes",
    objective: str,
    seed: int = 0,
) -> InsideMapping:
    """Places of all ranks, each host by itself: what is inside one does not affect another.

    Args:
        hosts: The places of hosts where ranks may be exchanged.
        lists: CPUs of each rank by the launcher, length T.
        traffic: What the ranks send one another.
        method: One of METHODS_INSIDE.
        metric: As of `fairlead.decide.placement.place`, like what follows.
        objective: What is minimised.
        seed: Where random numbers start.

    Raises:
        TopologyError: A level was not measured.
    """
    chosen, before_s, after_s, num_changed = list(lists), [0.0], [0.0], 0
    began_s = time.monotonic()
    is_searched = len(hosts) <= MOST_SEARCHED_HOSTS
    usual_method = method if is_searched or method != "optimize" else "scotch"
    asked = _Asked(usual_method, metric, objective, seed, MAPPING_S / max(1, len(hosts)))
    for one in _by_inside_bytes(hosts, traffic):
        own = _part(traffic, one.ranks)
        costs = one.network() if one.inside.rates else one.tree()
        usual = np.arange(len(one.ranks))
        cost_before = _cost(usual, own, costs, asked)
        before_s.append(cost_before)
        if time.monotonic() - began_s > MOST_MAPPING_S:
            # The next ones have less to send, and keep the launcher's order.
            after_s.append(cost_before)
            break
        place_of_rank = _find_places(own, costs, asked)
        cost_after = _cost(place_of_rank, own, costs, asked)
        if cost_after < cost_before:
            num_changed += _give(one, one.lists, place_of_rank, chosen)
        after_s.append(min(cost_before, cost_after))
    return InsideMapping(tuple(chosen), max(before_s), max(after_s), num_changed)


def _by_inside_bytes(hosts: Sequence[HostPlaces], traffic: Traffic) -> list[HostPlaces]:
    """The hosts, those first whose ranks send one another most."""
    host_of_rank = np.full(traffic.num_ranks, -1)
    for at, one in enumerate(hosts):
        host_of_rank[list(one.ranks)] = at
    sent = traffic.carried.bytes.tocoo()
    src = host_of_rank[sent.row]
    is_inside = (src >= 0) & (src == host_of_rank[sent.col])
    inside = np.bincount(src[is_inside], weights=sent.data[is_inside], minlength=len(hosts))
    return [hosts[at] for at in np.argsort(-inside, kind="stable")]


def map_inside_alike(
    hosts: Sequence[HostPlaces],
    lists: Sequence[str],
    traffic: Traffic,
    *,
    method: str = "optimize",
    metric: str = "bytes",
    objective: str,
    seed: int = 0,
) -> InsideMapping:
    """The same where the launcher takes one list for all hosts.

    The n-th rank of each host has its n-th entry. The sum of what the n-th and the m-th ranks of
    all hosts send one another is mapped, on each inside that occurs; the mapping that takes least
    on all hosts is used.

    The arguments are those of `map_inside`.

    Raises:
        TopologyError: A level was not measured, or the launcher's own lists differ by host.
    """
    usual_list = common_list(hosts)
    if usual_list is None:
        raise TopologyError("the launcher takes one list of CPUs for all hosts, and theirs differ")
    most = len(usual_list)
    asked = _Asked(method, metric, objective, seed, MAPPING_S)
    parts = [_part(traffic, one.ranks) for one in hosts]
    together = _sum(parts, most)
    wide = [dataclasses.replace(one, lists=usual_list) for one in hosts]
    costs = [one.network() if one.inside.rates else one.tree() for one in wide]

    def longest(place_of_rank: Ints) -> float:
        return max(
            _cost(place_of_rank[: part.num_ranks], part, cost, asked)
            for part, cost in zip(parts, costs, strict=True)
        )

    usual = np.arange(most)
    differing = {one.inside.xml: cost for one, cost in zip(wide, costs, strict=True)}
    found = [usual, *(_find_places(together, cost, asked) for cost in differing.values())]
    best = min(found, key=longest)
    chosen = list(lists)
    num_changed = sum(_give(one, usual_list, best, chosen) for one in hosts)
    return InsideMapping(tuple(chosen), longest(usual), longest(best), num_changed)


def _give(one: HostPlaces, lists: Sequence[str], place_of_rank: Ints, chosen: list[str]) -> bool:
    """Write the CPUs of the host's ranks; whether any differs from the launcher's."""
    before = [chosen[rank] for rank in one.ranks]
    for rank, place_index in zip(one.ranks, place_of_rank[: len(one.ranks)], strict=True):
        chosen[rank] = lists[place_index]
    return before != [chosen[rank] for rank in one.ranks]


def _find_places(traffic: Traffic, costs: Network | HostTree, asked: _Asked) -> Ints:
    """A place for each rank.

    The search of `optimize` begins with the best of the launcher's order and Scotch's mapping,
    which cuts regular traffic well in a few milliseconds.
    """
    places = Cluster.uniform(tuple(costs.hosts), slots=1)
    objective = "sum" if isinstance(costs, HostTree) else asked.objective

    def by(method: str, **limits: Any) -> Placement:
        return place(
            traffic, costs, places, method,
            metric=asked.metric, objective=objective, seed=asked.seed, **limits,
        )  # fmt: skip

    if asked.method != "optimize":
        return by(asked.method).host_of_rank
    usual = Placement(places.hosts, np.arange(traffic.num_ranks))
    starts = [usual, by("scotch")]
    start = min(starts, key=lambda one: _cost(one.host_of_rank, traffic, costs, asked))
    limit_s = min(asked.time_limit_s, MAPPING_S_PER_RANK * traffic.num_ranks)
    return by("optimize", time_limit_s=max(limit_s, LEAST_MAPPING_S), start=start).host_of_rank


def _cost(place_of_rank: Ints, traffic: Traffic, costs: Network | HostTree, asked: _Asked) -> float:
    placement = Placement(costs.hosts, place_of_rank)
    if isinstance(costs, HostTree):
        return evaluate_on_tree(placement, traffic, costs).weighted_sum[asked.metric]
    return float(getattr(evaluate(placement, traffic, costs), COST_OF_OBJECTIVE[asked.objective]))


def _part(traffic: Traffic, ranks: Sequence[int]) -> Traffic:
    """What these ranks send one another."""
    carried, chosen = traffic.carried, np.array(ranks)
    return Traffic(
        bytes=carried.bytes[chosen][:, chosen], messages=carried.messages[chosen][:, chosen]
    )


def _sum(parts: Sequence[Traffic], num_ranks: int) -> Traffic:
    """What the n-th and the m-th ranks of all parts send one another."""

    def add_up(name: str) -> sp.csr_array:
        total = sp.csr_array((num_ranks, num_ranks), dtype=np.float64)
        for part in parts:
            matrix = getattr(part, name).copy()
            matrix.resize((num_ranks, num_ranks))
            total = total + matrix
        return sp.csr_array(total)

    return Traffic(bytes=add_up("bytes"), messages=add_up("messages"))
