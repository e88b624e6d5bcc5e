# SPDX-License-Identifier: Apache-2.0
"""All mapping methods by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fairlead.decide.placement import filling, geometric, optimizing, scotch
from fairlead.decide.placement.problem import HostOfRank, Problem


class Method(NamedTuple):
    """One way to choose hosts.

    Attributes:
        place: Makes the placement.
        summary: What it does, in one line.
        uses_metric: Whether the metric counts under every objective; for `optimize` it counts under
            "sum" only.
    """

    place: Callable[[Problem], HostOfRank]
    summary: str
    uses_metric: bool = False


METHODS: dict[str, Method] = {
    "launcher": Method(filling.blocked, "what mpirun does by itself: hosts filled in their order"),
    "blocked": Method(filling.blocked, "neighbouring ranks together, hosts filled in their order"),
    "cyclic": Method(filling.cyclic, "a rank for each host in turn"),
    "random": Method(filling.random, "any slot for any rank"),
    "scotch": Method(
        scotch.scotch, "CloudMap: traffic and network matched by Scotch", uses_metric=True
    ),
    "scotch-intra": Method(
        scotch.scotch_intra,
        "CloudMap's half: ranks grouped by traffic, hosts at random",
        uses_metric=True,
    ),
    "scotch-inter": Method(
        scotch.scotch_inter,
        "CloudMap's other half: ranks grouped at random, hosts chosen",
        uses_metric=True,
    ),
    "scotch-groups": Method(
        scotch.scotch_groups, "ranks grouped by traffic, hosts in their order", uses_metric=True
    ),
    "scotch-hosts": Method(
        scotch.scotch_hosts, "launcher's groups, hosts chosen by the network", uses_metric=True
    ),
    "geometric": Method(
        geometric.geometric,
        "ranks and hosts cut by their coordinates in the same way",
        uses_metric=True,
    ),
    "optimize": Method(optimizing.optimize, "Fairlead: anneals the objective, from many starts"),
}
"""`launcher` leaves the choice to the launcher; as a placement it is what Open MPI and MPICH do by
default."""
