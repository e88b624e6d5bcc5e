# SPDX-License-Identifier: Apache-2.0
"""All mapping methods by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fairlead.decide.placement import (
    filling,
    geometric,
    optimizing,
    scotch,
    scotch_best,
)
from fairlead.decide.placement.problem import HostOfRank, Problem


class Method(NamedTuple):
    """One way to choose hosts.

    Attributes:
        place: Makes the placement.
        summary: What it does, in one line.
        uses_metric: Whether the metric counts under every objective; for `optimize` it counts under
            "sum" only.
        uses_objective: Whether the placement depends on the objective.
    """

    place: Callable[[Problem], HostOfRank]
    summary: str
    uses_metric: bool = False
    uses_objective: bool = False


def _by_scotch_once(place: Callable[[Problem], HostOfRank], summary: str) -> Method:
    """One that takes what Scotch finds."""
    return Method(place, summary, uses_metric=True)


def _by_best_of_scotch(place: Callable[[Problem], HostOfRank], summary: str) -> Method:
    """One that keeps the best of Scotch's random starts."""
    return Method(place, summary, uses_metric=True, uses_objective=True)


METHODS: dict[str, Method] = {
    "launcher": Method(filling.blocked, "what mpirun does by itself: hosts filled in their order"),
    "blocked": Method(filling.blocked, "as launcher, but given to mpirun as a placement"),
    "cyclic": Method(filling.cyclic, "one rank for each host in turn, until all slots are filled"),
    "random": Method(filling.random, "any slot for any rank"),
    "scotch": _by_scotch_once(
        scotch.scotch, "CloudMap: point-to-point messages and network matched by Scotch"
    ),
    "scotch-intra": _by_scotch_once(
        scotch.scotch_intra, "CloudMap, intra-only: ranks grouped by traffic, hosts at random"
    ),
    "scotch-inter": _by_scotch_once(
        scotch.scotch_inter,
        "CloudMap, inter-only: ranks grouped at random, hosts chosen by the network",
    ),
    "scotch-best": _by_best_of_scotch(
        scotch_best.scotch_best, "all traffic and network matched by Scotch, the best of its starts"
    ),
    "scotch-groups": _by_best_of_scotch(
        scotch_best.scotch_groups, "ranks grouped by traffic, hosts in their order"
    ),
    "scotch-hosts": _by_best_of_scotch(
        scotch_best.scotch_hosts, "launcher's groups, hosts chosen by the network"
    ),
    "geometric": Method(
        geometric.geometric,
        "ranks and hosts cut by their coordinates in the same way",
        uses_metric=True,
    ),
    "optimize": Method(
        optimizing.optimize,
        "Fairlead's own: simulated annealing of the objective, from several starts",
        uses_objective=True,
    ),
}
"""`launcher` leaves the choice to the launcher; as a placement it is what Open MPI and MPICH do by
default."""
