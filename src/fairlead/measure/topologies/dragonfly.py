# SPDX-License-Identifier: Apache-2.0
"""Forwarding tables of a dragonfly by its minimal routes.

A minimal route between groups takes one cable between them, and at most one hop inside of each. A
shortest path may take two cables between groups instead, which no minimal route does.

Source: Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008),
section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.csgraph

from fairlead.measure.topologies.shortest_paths import End, links_in_turn
from fairlead.model.topology.routes import NO_LINK

__all__ = ["minimal_routes"]

_Rows = npt.NDArray[np.int32]
"""Rows of (switch, switch, link from the first to the second)."""


def minimal_routes(
    group_of_switch: Sequence[int], between: Sequence[tuple[int, int, int]], ends: Sequence[End]
) -> npt.NDArray[np.int32]:
    """Next link of each switch towards each end, shape (S, E); NO_LINK where none leads there.

    Of routes of equal length each end takes its own, in turn.

    Args:
        group_of_switch: Group of each switch, length S.
        between: Rows of (switch, switch, link from the first to the second).
        ends: Ends of hosts, length E.
    """
    group = np.asarray(group_of_switch)
    rows = np.array(between, dtype=np.int32).reshape(-1, 3)
    is_local = group[rows[:, 0]] == group[rows[:, 1]]
    to_switch = {
        int(each): _local_distances(np.flatnonzero(group == each), rows[is_local])
        for each in np.unique(group)
    }
    switch_of_end = np.array([end.switch for end in ends])
    next_link = np.full((len(group), len(ends)), NO_LINK, dtype=np.int32)
    leaving = _by_first(rows, len(group))
    for into, distance in to_switch.items():
        columns = np.flatnonzero(group[switch_of_end] == into)
        if not columns.size:
            continue
        chosen, destination = np.unique(switch_of_end[columns], return_inverse=True)
        left = _left(group, rows[~is_local], to_switch, into, chosen)
        for switch, own in enumerate(leaving):
            far = own[:, 1]
            # After a cable into the group only what is inside is left; any other group is no way.
            beyond = np.where(
                (group[far] == group[switch])[:, None],
                left[far],
                np.where((group[far] == into)[:, None], distance.of(far, chosen), np.inf),
            )
            is_path = (beyond == left[switch] - 1) & np.isfinite(left[switch])
            if own.size:
                next_link[switch, columns] = links_in_turn(own[:, 2], is_path, destination, columns)
    next_link[switch_of_end, np.arange(len(ends))] = [end.down for end in ends]
    return next_link


class _Distances:
    """Hops inside of a group."""

    def __init__(self, switches: npt.NDArray[np.int64], hops: npt.NDArray[np.float64]) -> None:
        self.switches = switches
        self.hops = hops

    def of(
        self, src: npt.NDArray[np.integer], dst: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.float64]:
        """Hops from some switches to others, shape (src, dst); infinite from another group."""
        at = np.searchsorted(self.switches, src).clip(max=len(self.switches) - 1)
        found: npt.NDArray[np.float64] = self.hops[at][:, np.searchsorted(self.switches, dst)]
        found[self.switches[at] != src] = np.inf
        return found


def _local_distances(switches: npt.NDArray[np.int64], local: _Rows) -> _Distances:
    """Hops between the switches of one group, by its own cables."""
    own = local[np.isin(local[:, 0], switches)]
    src, dst = np.searchsorted(switches, own[:, 0]), np.searchsorted(switches, own[:, 1])
    graph = sp.csr_array((np.ones(len(own)), (src, dst)), shape=(len(switches),) * 2)
    return _Distances(switches, scipy.sparse.csgraph.shortest_path(graph, unweighted=True))


def _left(
    group: npt.NDArray[np.int64],
    between_groups: _Rows,
    to_switch: Mapping[int, _Distances],
    into: int,
    chosen: npt.NDArray[np.integer],
) -> npt.NDArray[np.float64]:
    """Hops that a minimal route has left at each switch, shape (S, chosen).

    Args:
        group: Group of each switch.
        between_groups: Cables between groups.
        to_switch: Hops inside of each group.
        into: Group of the destinations.
        chosen: Destinations.
    """
    left = np.full((len(group), len(chosen)), np.inf)
    inside = to_switch[into]
    left[inside.switches] = inside.of(inside.switches, chosen)
    entering = between_groups[group[between_groups[:, 1]] == into]
    for each, distance in to_switch.items():
        cables = entering[group[entering[:, 0]] == each]
        if each == into or not cables.size:
            continue
        after = 1 + inside.of(cables[:, 1], chosen)
        before = distance.of(distance.switches, cables[:, 0])
        for cable in range(len(cables)):
            through = before[:, cable, None] + after[cable]
            left[distance.switches] = np.minimum(left[distance.switches], through)
    return left


def _by_first(rows: _Rows, num_switches: int) -> list[_Rows]:
    """The rows of each switch."""
    ordered = rows[np.argsort(rows[:, 0], kind="stable")]
    return np.split(ordered, np.searchsorted(ordered[:, 0], np.arange(1, num_switches)))
