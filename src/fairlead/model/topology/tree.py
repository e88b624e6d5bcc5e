# SPDX-License-Identifier: Apache-2.0
"""Routes of a tree: up to the lowest common switch, and down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, TopologyError
from fairlead.model.topology.links import Links
from fairlead.model.topology.routes import (
    NO_LINK,
    HostIndex,
    LinkIndex,
    Reducer,
    Reduction,
    Routes,
    Values,
)

__all__ = ["TreeRoutes", "ends_only", "links_of_tree"]


class TreeRoutes(Routes):
    """Routes through switches of which each hangs below one other.

    The links of vertex v are 2 v, up to its parent, and 2 v + 1, down to it; hosts are the first
    vertices.
    """

    kind = "tree"

    def __init__(self, parent_of_vertex: npt.ArrayLike, num_hosts: int):
        """Routes on a tree.

        Args:
            parent_of_vertex: Shape (V,): of hosts, then of switches; NO_LINK for a root.
            num_hosts: Number of hosts H.

        Raises:
            InputError: A vertex is below itself.
        """
        self.parent_of_vertex = np.ascontiguousarray(parent_of_vertex, dtype=np.int32)
        self.num_hosts = num_hosts
        num_vertices = len(self.parent_of_vertex)
        if (
            self.parent_of_vertex.min(initial=NO_LINK) < NO_LINK
            or self.parent_of_vertex.max(initial=NO_LINK) >= num_vertices
        ):
            raise InputError("tree: a vertex is below one that is not there")
        # From the root down: vertex of each depth above each host, NO_LINK below the host.
        ways = []
        for host in range(num_hosts):
            way = [host]
            while (above := int(self.parent_of_vertex[way[-1]])) != NO_LINK:
                way.append(above)
                if len(way) > num_vertices:
                    raise InputError("tree: a switch is below itself")
            ways.append(way[::-1])
        depth = max(map(len, ways), default=0)
        padded = [way + [NO_LINK] * (depth - len(way)) for way in ways]
        self._vertex_of_depth = np.array(padded, dtype=np.int32).reshape(num_hosts, depth).T

    def route(self, src: int, dst: int) -> LinkIndex:
        """Links from host to host in their order."""
        if src == dst:
            return np.zeros(0, dtype=np.int32)
        up, down = (
            [int(vertex) for vertex in self._vertex_of_depth[:, host] if vertex != NO_LINK]
            for host in (src, dst)
        )
        common = sum(1 for one, other in zip(up, down, strict=False) if one == other)
        if not common:
            raise TopologyError("tree: there is no switch above both hosts")
        links = [2 * vertex for vertex in reversed(up[common:])]
        links += [2 * vertex + 1 for vertex in down[common:]]
        return np.array(links, dtype=np.int32)

    def reducer(self, value_of_link: Values, reduction: Reduction) -> Reducer:
        """Prepares values of both links of each vertex."""
        neutral = np.append(value_of_link[:-1].reshape(-1, 2), [[reduction.neutral] * 2], axis=0)
        up, down = np.ascontiguousarray(neutral[:, 0]), np.ascontiguousarray(neutral[:, 1])

        def reduce(src: HostIndex, dst: HostIndex) -> Values:
            result = np.full(np.shape(src), reduction.neutral)
            is_above = np.ones(np.shape(src), dtype=bool)
            for vertices in self._vertex_of_depth:
                one, other = vertices[src], vertices[dst]
                is_above &= one == other
                both = reduction.combine(up[one], down[other])
                result = np.where(is_above, result, reduction.combine(result, both))
            return result

        return reduce

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a file keeps of it."""
        return {
            "parent_of_vertex": self.parent_of_vertex,
            "num_hosts": np.array([self.num_hosts], dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], num_links: int) -> TreeRoutes:
        """From what a file kept."""
        parents, num_hosts = arrays["parent_of_vertex"], int(arrays["num_hosts"].ravel()[0])
        if parents.ndim != 1 or 2 * len(parents) != num_links or num_hosts > len(parents):
            raise InputError("parent_of_vertex: does not fit the number of links")
        return cls(parents, num_hosts)


def links_of_tree(
    names: Sequence[str], capacity_Bps: npt.NDArray[np.float64] | None = None
) -> Links:
    """Both links of each vertex of a tree, in the order that `TreeRoutes` counts them in.

    Args:
        names: Ports at the lower end, one for each vertex.
        capacity_Bps: Capacity of both links of each vertex, shape (V,); None: unknown.
    """
    capacity = np.full(len(names), np.nan) if capacity_Bps is None else capacity_Bps
    return Links(
        in_ports=[port for name in names for port in (f"above {name}", name)],
        out_ports=[port for name in names for port in (name, f"above {name}")],
        capacity_Bps=np.repeat(capacity, 2),
    )


def ends_only(num_hosts: int) -> TreeRoutes:
    """Where nothing is known of a network but its hosts: the links of the two ends."""
    return TreeRoutes([num_hosts] * num_hosts + [NO_LINK], num_hosts)
