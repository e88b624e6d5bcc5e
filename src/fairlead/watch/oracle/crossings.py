# SPDX-License-Identifier: Apache-2.0
"""Which pairs of hosts each link carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import TopologyError
from fairlead.model.topology import Topology
from fairlead.model.topology.routes import NO_LINK

__all__ = ["Crossings", "crossings"]

Ints = npt.NDArray[np.int64]


class Crossings(NamedTuple):
    """A row for each link on the route of each pair of hosts, ordered by link.

    Attributes:
        link: Positions of links, shape (R,).
        src, dst: Positions of the pair among the hosts asked about, shape (R,).
    """

    link: Ints
    src: Ints
    dst: Ints

    def pairs_of_links(self) -> Iterator[tuple[int, Ints]]:
        """Each link that is crossed, with its pairs, shape (P, 2)."""
        pairs = np.column_stack([self.src, self.dst])
        links, begins = np.unique(self.link, return_index=True)
        return zip(links.tolist(), np.split(pairs, begins)[1:], strict=True)


def crossings(topology: Topology, hosts: Sequence[str]) -> Crossings:
    """The links on the routes between these hosts; pairs without a route cross none.

    Raises:
        TopologyError: A host is unknown.
    """
    places = topology.indices(hosts).tolist()
    rows = [
        (link, src, dst)
        for src, one in enumerate(places)
        for dst, other in enumerate(places)
        if src != dst
        for link in _route(topology, one, other)
        if link != NO_LINK
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Crossings(*table[np.argsort(table[:, 0], kind="stable")].T.copy())


def _route(topology: Topology, src: int, dst: int) -> list[int]:
    """Links from host to host; none where there is no route."""
    try:
        links: list[int] = topology.routes.route(src, dst).tolist()
    except TopologyError:
        return []
    return links
