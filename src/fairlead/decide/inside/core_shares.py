# SPDX-License-Identifier: Apache-2.0
"""Cores for each rank of a placement, where no launcher was seen to choose CPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fairlead.errors import TopologyError
from fairlead.model.cpu_lists import cpus_of_list, list_of_cpus
from fairlead.model.host_inside import HostInside
from fairlead.model.placement import Placement

__all__ = ["CoreShare", "share_cores"]


class CoreShare(NamedTuple):
    """Neighbouring cores of a host.

    Attributes:
        cpus: Their CPUs by the numbers of the system, in the form of cpuset(7).
        cores: Their numbers in the order of hwloc, as rankfiles have them: "4" or "4-7".
    """

    cpus: str
    cores: str


def share_cores(placement: Placement, insides: Mapping[str, HostInside]) -> list[CoreShare] | None:
    """An equal share of its host's cores for each rank, in the order of ranks.

    Every rank has as many cores as fit, for the threads of hybrid programs.

    Returns:
        A share for each rank; None where no host with several ranks has CPUs that are not equally
        near, so that it does not matter which they have.

    Raises:
        TopologyError: The inside of a host is not known, or it has fewer cores than ranks.
    """
    shares = [CoreShare("", "")] * placement.num_ranks
    has_levels = False
    for host in placement.hosts:
        ranks = placement.ranks_on(host)
        if not ranks:
            continue
        if host not in insides or not insides[host].xml:
            why = insides[host].problem if host in insides else "the network has none of it"
            raise TopologyError(f"the inside of {host} is not known: {why}")
        inside = insides[host]
        has_levels = has_levels or (len(ranks) > 1 and bool(inside.topology.levels))
        of_host = _shares_of_host(inside, len(ranks))
        if of_host is None:
            raise TopologyError(f"{host} has fewer cores than its {len(ranks)} ranks")
        for rank, share in zip(ranks, of_host, strict=True):
            shares[rank] = share
    return shares if has_levels else None


def _shares_of_host(inside: HostInside, num_ranks: int) -> list[CoreShare] | None:
    allowed = cpus_of_list(inside.cpus) or inside.topology.cpus
    usable = [(at, core & allowed) for at, core in enumerate(inside.topology.cores)]
    usable = [(at, core) for at, core in usable if core]
    each = len(usable) // num_ranks
    if not each:
        return None
    shares = []
    for first in range(0, each * num_ranks, each):
        own = usable[first : first + each]
        cpus = frozenset[int]().union(*(core for _, core in own))
        shares.append(CoreShare(list_of_cpus(cpus), list_of_cpus(at for at, _ in own)))
    return shares
