# SPDX-License-Identifier: Apache-2.0
"""Forwarding tables by shortest paths, where the real ones are unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.csgraph

from fairlead.model.topology import RailRoutes, Routes, TableRoutes
from fairlead.model.topology.routes import NO_LINK

__all__ = ["End", "between_hosts", "shortest_paths"]


class End(NamedTuple):
    """Where a host is on the network; a host with several has rails.

    Attributes:
        host: The host.
        switch: Position of the switch.
        up: Link from the host to it.
        down: Link from it to the host; NO_LINK where there is none.
    """

    host: str
    switch: int
    up: int
    down: int


def shortest_paths(
    num_switches: int, between: Sequence[tuple[int, int, int]], ends: Sequence[End]
) -> npt.NDArray[np.int32]:
    """Next link of each switch towards each end, shape (S, E); NO_LINK where none leads there.

    Args:
        num_switches: Number of switches S.
        between: Rows of (switch, switch, link from the first to the second).
        ends: Ends of hosts, length E.
    """
    src, dst, link = np.array(between, dtype=np.int32).reshape(-1, 3).T
    graph = sp.csr_array((np.ones(len(link)), (src, dst)), shape=(num_switches, num_switches))
    distance = scipy.sparse.csgraph.shortest_path(graph, unweighted=True)
    switch_of_end = np.array([end.switch for end in ends])
    to_end = distance[:, switch_of_end]
    next_link = np.full((num_switches, len(ends)), NO_LINK, dtype=np.int32)
    turn = np.arange(len(ends))
    for switch in range(num_switches):
        leaving = link[src == switch]
        if leaving.size:
            # Paths of equal length are taken in turn, as subnet managers balance them.
            is_path = to_end[dst[src == switch]] == to_end[switch] - 1
            count = is_path.sum(axis=0)
            order = np.argsort(~is_path, axis=0, kind="stable")
            chosen = order[turn % np.maximum(count, 1), turn]
            next_link[switch] = np.where(count > 0, leaving[chosen], NO_LINK)
    next_link[switch_of_end, turn] = [end.down for end in ends]
    return next_link


def between_hosts(
    ends: Sequence[End],
    next_link: npt.NDArray[np.int32],
    switch_after_link: Sequence[int],
) -> tuple[list[str], list[int], Routes]:
    """Routes between hosts by tables between their ends.

    Args:
        ends: Those of one host one after another, the preferred one first; length E.
        next_link: Shape (S, E).
        switch_after_link: Switch that each link leads to; NO_LINK for a host.

    Returns:
        The hosts, the first end of each, and the routes.
    """
    tables = TableRoutes(
        [end.switch for end in ends], [end.up for end in ends], next_link, switch_after_link
    )
    ends_of_host: dict[str, list[int]] = {}
    for index, end in enumerate(ends):
        ends_of_host.setdefault(end.host, []).append(index)
    most = max(map(len, ends_of_host.values()))
    rails = [some + [NO_LINK] * (most - len(some)) for some in ends_of_host.values()]
    first = [some[0] for some in ends_of_host.values()]
    return list(ends_of_host), first, tables if most == 1 else RailRoutes(tables, rails)
