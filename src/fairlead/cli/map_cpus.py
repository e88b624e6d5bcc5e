# SPDX-License-Identifier: Apache-2.0
"""The CPUs of ranks in the files of `fairlead map`, where the network has the inside of hosts."""

from __future__ import annotations

from collections.abc import Sequence

from fairlead.act.launch import FORMATS, Cores
from fairlead.cli.output import warn
from fairlead.decide.inside import CoreShare, map_cores
from fairlead.errors import TopologyError
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["cores_for_file", "find_shares", "usage_of"]


def find_shares(
    format: str | None,
    placement: Placement,
    traffic: Traffic,
    network: Network | HostTree,
    *,
    method: str,
    metric: str,
    objective: str,
    seed: int,
) -> list[CoreShare] | None:
    """Cores of each rank; None where the format has no place for them or they are not known.

    Args:
        format: A name in FORMATS; None where nobody asked.
        placement: A host for each rank.
        traffic: What the ranks send one another.
        network: With the inside of hosts, or without.
        method: As of `map_cores`, like what follows.
        metric: How traffic is weighted.
        objective: What is minimised.
        seed: Where random numbers start.
    """
    if format is None or isinstance(network, HostTree) or not network.insides:
        return None
    is_alike = FORMATS[format].cpu_usage is not None
    if not (is_alike or FORMATS[format].takes_lists):
        return None
    try:
        return map_cores(
            placement, traffic, network.insides, is_alike=is_alike,
            method=method, metric=metric, objective=objective, seed=seed,
        )  # fmt: skip
    except TopologyError as error:
        warn(f"{format}: ranks get no CPUs: {error}")
        return None


def cores_for_file(
    format: str, cores: int | None, shares: Sequence[CoreShare] | None
) -> Cores | None:
    """The cores that the file names."""
    if shares is not None and FORMATS[format].takes_lists:
        return Cores(lists=[share.cores for share in shares])
    return None if cores is None else Cores(cores)


def usage_of(
    format: str, path: str, placement: Placement, shares: Sequence[CoreShare] | None
) -> str:
    """Instructions for starting the ranks from a file."""
    chosen = FORMATS[format]
    if shares is None or chosen.cpu_usage is None:
        return chosen.usage(path, placement.num_ranks)
    lists = [[shares[rank].cpus for rank in placement.ranks_on(host)] for host in placement.hosts]
    return chosen.cpu_usage(path, placement, max(lists, key=len))
