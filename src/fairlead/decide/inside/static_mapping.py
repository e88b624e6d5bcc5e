# SPDX-License-Identifier: Apache-2.0
"""Cores for the ranks of a placement that goes into a launcher's file."""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.decide.inside.core_shares import CoreShare, share_cores
from fairlead.decide.inside.mapping import map_inside, map_inside_alike
from fairlead.decide.inside.places import places_of
from fairlead.model.host_inside import HostInside
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["map_cores"]


def map_cores(
    placement: Placement,
    traffic: Traffic,
    insides: Mapping[str, HostInside],
    *,
    method: str,
    metric: str,
    objective: str,
    seed: int = 0,
    is_alike: bool = False,
) -> list[CoreShare] | None:
    """Cores of each rank, near each other for ranks that exchange much.

    Hosts whose levels were not measured are mapped by the number of levels that messages cross.

    Args:
        placement: A host for each rank.
        traffic: What the ranks send one another.
        insides: The inside of the hosts.
        method: As of `map_inside`, like what follows.
        metric: How traffic is weighted.
        objective: What is minimised.
        seed: Where random numbers start.
        is_alike: Whether the launcher takes one list of CPUs for all hosts.

    Returns:
        A share for each rank; None as of `share_cores`.

    Raises:
        TopologyError: The inside of a host is not known, it has fewer cores than ranks, or one list
            does not fit all hosts.
    """
    shares = share_cores(placement, insides)
    if shares is None:
        return None
    usual = [share.cpus for share in shares]
    share_of_cpus = {
        (host, share.cpus): share
        for host, share in zip(placement.host_names(), shares, strict=True)
    }
    by = map_inside_alike if is_alike else map_inside
    found = by(
        places_of(placement, usual, insides), usual, traffic,
        method=method, metric=metric, objective=objective, seed=seed,
    )  # fmt: skip
    # A host with fewer ranks than another has other entries of one list than its own shares.
    return [
        share_of_cpus.get((host, cpus), CoreShare(cpus, ""))
        for host, cpus in zip(placement.host_names(), found.lists, strict=True)
    ]
