# SPDX-License-Identifier: Apache-2.0
"""The places of ranks inside a host: a list of CPUs each, as leaves of the host's tree."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, TopologyError
from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.model.cpu_lists import cpus_of_list
from fairlead.model.cpu_topology import CpuTopology
from fairlead.model.host_inside import HostInside
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement

__all__ = ["HostPlaces", "common_list", "places_of", "require_known"]


@dataclasses.dataclass(frozen=True, eq=False)
class HostPlaces:
    """The ranks of one host, and a place for each.

    Attributes:
        host: Its name.
        ranks: Ranks on it, ascending, length N.
        lists: CPUs of each place, in the form of cpuset(7), length N; by the launcher the first
            rank has the first place.
        inside: Its inside.
    """

    host: str
    ranks: tuple[int, ...]
    lists: tuple[str, ...]
    inside: HostInside

    def tree(self) -> HostTree:
        """The places as leaves of the host's tree, with the number of the level as the cost."""
        topology = self.inside.topology
        level = _levels_of_pairs(topology, self.lists)
        groups = [_groups(level, at) for at in range(len(topology.levels))]
        costs = np.arange(len(groups) + 2, dtype=np.float64)
        return HostTree(_names(self.lists), np.array(groups), costs, f"the inside of {self.host}")

    def network(self) -> Network:
        """The places as hosts of a network with the rates of the host's levels.

        What the CPUs of a socket read from memory together bounds all that its places send and
        receive.

        Raises:
            TopologyError: A level was not measured; the message names it.
        """
        topology, rates = self.inside.topology, self.inside.rates
        level = _levels_of_pairs(topology, self.lists)
        names = topology.level_names
        off_diagonal = ~np.eye(len(self.lists), dtype=bool)
        for at in np.unique(level[off_diagonal]):
            if names[at] not in rates:
                raise TopologyError(
                    f"{self.host}: its level {names[at]!r} was not measured inside the host"
                )
        latency_s, bandwidth_Bps = (
            np.array([getattr(rates[name], field) if name in rates else np.nan for name in names])
            for field in ("latency_s", "bandwidth_Bps")
        )
        return Network(
            _names(self.lists),
            np.where(off_diagonal, latency_s[level], 0.0),
            np.where(off_diagonal, bandwidth_Bps[level], np.inf),
            groups=[*self._memory_groups(topology)],
            source=f"the inside of {self.host}",
        )

    def _memory_groups(self, topology: CpuTopology) -> list[BottleneckGroup]:
        cpus = [cpus_of_list(text) for text in self.lists]
        groups = []
        for socket, capacity_Bps in zip(topology.sockets(), self.inside.memory_Bps, strict=False):
            is_there = np.array([bool(socket & own) for own in cpus])
            pairs = np.argwhere(
                (is_there[:, None] | is_there[None, :]) & ~np.eye(len(cpus), dtype=bool)
            )
            if len(pairs) and not math.isnan(capacity_Bps):
                groups.append(BottleneckGroup(pairs, capacity_Bps))
        return groups


def places_of(
    placement: Placement, lists: Sequence[str], insides: Mapping[str, HostInside]
) -> list[HostPlaces]:
    """The places on each host that has several ranks on CPUs that are not equally near.

    Args:
        placement: A host for each of T ranks.
        lists: CPUs of each rank as the launcher gives them, length T.
        insides: The inside of the hosts.

    Raises:
        TopologyError: The inside of such a host is not known, or is that of another host, or has
            lost CPUs since; the message names it.
    """
    found = []
    for host in placement.hosts:
        ranks = placement.ranks_on(host)
        own = tuple(lists[rank] for rank in ranks)
        if len(set(own)) < 2 or host not in insides:
            continue
        places = HostPlaces(host, tuple(ranks), own, insides[host])
        require_known(places)
        if places.inside.topology.levels:
            found.append(places)
    return found


def require_known(places: HostPlaces) -> None:
    """Check that the topology is known and has the CPUs of all places.

    Raises:
        TopologyError: It is not; the message names the host.
    """
    host, inside = places.host, places.inside
    try:
        topology = inside.topology
    except InputError as error:
        raise TopologyError(f"the inside of {host} is not known: {error}") from error
    used = frozenset[int]().union(*map(cpus_of_list, places.lists))
    if unknown := used - topology.cpus:
        raise TopologyError(
            f"the topology of {host} has no CPU {min(unknown)}, which the launcher uses: it was "
            "read on another host, or where the job had other CPUs"
        )


def common_list(hosts: Sequence[HostPlaces]) -> tuple[str, ...] | None:
    """The one list of places of which each host has the first ones; None where they differ."""
    longest = max((one.lists for one in hosts), key=len, default=())
    fits = all(one.lists == longest[: len(one.lists)] for one in hosts)
    return longest if fits and longest else None


def _names(lists: Sequence[str]) -> list[str]:
    return [f"{at}: CPUs {cpus}" for at, cpus in enumerate(lists)]


def _levels_of_pairs(topology: CpuTopology, lists: Sequence[str]) -> npt.NDArray[np.int64]:
    """Lowest level that two places have in common, shape (N, N); positions in `level_names`."""
    cpus = [cpus_of_list(text) for text in lists]
    level = np.full((len(lists),) * 2, len(topology.levels), dtype=np.int64)
    for at in range(len(topology.levels) - 1, -1, -1):
        found = [topology.levels[at].group_of(own) for own in cpus]
        group = np.array([-1 if one is None else one for one in found])
        level[(group[:, None] == group[None, :]) & (group[:, None] >= 0)] = at
    return level


def _groups(level: npt.NDArray[np.int64], at: int) -> list[int]:
    """Group of each place on a level: the first place that it has this level in common with."""
    is_common = level <= at
    first = np.argmax(is_common, axis=1)
    return [int(one) for one in np.where(is_common.any(axis=1), first, np.arange(len(level)))]
