# SPDX-License-Identifier: Apache-2.0
"""Ranks and hosts cut by their coordinates in the same way: multi-jagged partitioning.

Source: Deveci, Rajamanickam, Devine, Catalyurek: Multi-jagged, a scalable parallel spatial
partitioning algorithm (TPDS 2016); ORACLE compares with its use for mapping.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.decide.placement.graph_coordinates import graph_coordinates
from fairlead.decide.placement.problem import HostOfRank, Problem
from fairlead.errors import ShapeError

__all__ = ["geometric", "multi_jagged"]

Coordinates = npt.NDArray[np.float64]


def geometric(problem: Problem) -> HostOfRank:
    """Hosts and ranks cut by coordinates; where none are given, by those of their graphs.

    A graph's coordinates are the first eigenvectors of its Laplacian: what is near in them is
    near in the graph.
    """
    ranks, hosts = problem.rank_coordinates, problem.host_coordinates
    if ranks is None:
        weights = problem.weights
        ranks = graph_coordinates(sp.csr_array(weights + weights.T))
    if hosts is None:
        with np.errstate(divide="ignore"):
            near = 1.0 / problem.host_cost_s
        np.fill_diagonal(near, 0.0)
        most = near[np.isfinite(near)].max(initial=0.0)
        near = np.where(np.isfinite(near), near, 2 * most if most > 0 else 1.0)
        hosts = graph_coordinates(sp.csr_array(near + near.T))
    return multi_jagged(ranks, hosts, np.array(problem.cluster.slots))


def multi_jagged(
    ranks: Coordinates, hosts: Coordinates, slots: npt.NDArray[np.int64]
) -> HostOfRank:
    """A host for each rank.

    Both sides are cut along their longest dimension into as many parts, then each part along its
    next one, where cuts need not meet those of its neighbours. Parts get ranks in proportion to
    their slots.

    Args:
        ranks: Coordinates, shape (T, D).
        hosts: Coordinates, shape (H, E).
        slots: Slots of each host, shape (H,); at least T in all.

    Raises:
        ShapeError: The numbers of hosts differ.
    """
    if len(hosts) != len(slots):
        raise ShapeError(f"geometric: {len(hosts)} hosts with coordinates, {len(slots)} with slots")
    host_of_rank = np.full(len(ranks), -1, dtype=np.int64)
    _cut(
        (ranks, np.arange(len(ranks))),
        (hosts, np.arange(len(hosts))),
        slots,
        max(1, min(ranks.shape[1], hosts.shape[1])),
        host_of_rank,
    )
    return host_of_rank


Indices = npt.NDArray[np.int64]

Side = tuple[Coordinates, Indices]
"""Coordinates of all, and the indices of those in a part."""


def _cut(
    ranks: Side, hosts: Side, slots: npt.NDArray[np.int64], depth: int, host_of_rank: HostOfRank
) -> None:
    """Give the ranks of a part to its hosts, by cuts along `depth` further dimensions."""
    members = hosts[1]
    if len(members) == 1:
        host_of_rank[ranks[1]] = members[0]
        return
    if not len(ranks[1]):
        return
    num_parts = math.ceil(len(members) ** (1 / depth) - 1e-9)
    num_parts = min(max(2, num_parts), len(members))
    by_host, by_rank = _along_longest(*hosts), _along_longest(*ranks)
    parts = np.array_split(by_host, num_parts)
    room = np.array([slots[part].sum() for part in parts])
    begin = 0
    for part, count in zip(parts, _shares(len(by_rank), room), strict=True):
        own = by_rank[begin : begin + count]
        _cut((ranks[0], own), (hosts[0], part), slots, max(1, depth - 1), host_of_rank)
        begin += count


def _along_longest(coordinates: Coordinates, members: Indices) -> Indices:
    """Members in their order along the dimension in which they are spread most.

    What is equal in it stays in the order of the next longest ones.
    """
    own = coordinates[members]
    longest_last = np.argsort(np.ptp(own, axis=0), kind="stable")
    return members[np.lexsort(own[:, longest_last].T)]


def _shares(total: int, room: npt.NDArray[np.int64]) -> list[int]:
    """Whole parts of a total in proportion to room, none above its room."""
    ends = np.floor(np.cumsum(room) * total / room.sum() + 1e-9).astype(int)
    shares = np.diff(ends, prepend=0)
    # Rounding gives at most one too many, and only where some other part has a slot left.
    over = shares - room
    while np.any(over > 0):
        full, free = int(np.argmax(over)), int(np.argmax(room - shares))
        shares[full] -= 1
        shares[free] += 1
        over = shares - room
    return [int(share) for share in shares]
