# SPDX-License-Identifier: Apache-2.0
"""Forwarding tables by shortest paths, where the real ones are unknown."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.csgraph

from fairlead.errors import InputError
from fairlead.model.topology import RailRoutes, Routes, TableRoutes
from fairlead.model.topology.routes import NO_LINK

__all__ = [
    "End",
    "between_hosts",
    "links_in_turn",
    "name_rails",
    "name_unreached",
    "require_table",
    "shortest_paths",
]

MOST_ENTRIES = 2**27
"""Entries of all forwarding tables, of four bytes each. A dragonfly of 2,464 switches and 37,632
adapters (Frontier) has two thirds of them."""

_SWITCHES_AT_ONCE = 256


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


def require_table(source: str, num_switches: int, num_ends: int) -> None:
    """Check that the forwarding tables of a network fit into memory.

    Raises:
        InputError: They have more entries than any network in use; the message names the source.
    """
    if num_switches * num_ends > MOST_ENTRIES:
        raise InputError(
            f"{source}: {num_switches} switches and {num_ends} ends of hosts need more than "
            f"{MOST_ENTRIES} entries of forwarding tables"
        )


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
    # From where a link leads to where it comes from: searched from the destinations.
    backwards = sp.csr_array((np.ones(len(link)), (dst, src)), shape=(num_switches, num_switches))
    switch_of_end = np.array([end.switch for end in ends])
    next_link = np.full((num_switches, len(ends)), NO_LINK, dtype=np.int32)
    order = np.argsort(src, kind="stable")
    leaving = np.split(order, np.searchsorted(src[order], np.arange(1, num_switches)))
    destinations = np.unique(switch_of_end)
    for start in range(0, len(destinations), _SWITCHES_AT_ONCE):
        chosen = destinations[start : start + _SWITCHES_AT_ONCE]
        to_chosen = scipy.sparse.csgraph.shortest_path(backwards, unweighted=True, indices=chosen).T
        columns = np.flatnonzero(np.isin(switch_of_end, chosen))
        destination = np.searchsorted(chosen, switch_of_end[columns])
        for switch, own in enumerate(leaving):
            if own.size:
                is_path = to_chosen[dst[own]] == to_chosen[switch] - 1
                is_path &= np.isfinite(to_chosen[switch])
                next_link[switch, columns] = links_in_turn(link[own], is_path, destination, columns)
    next_link[switch_of_end, np.arange(len(ends))] = [end.down for end in ends]
    return next_link


def links_in_turn(
    links: npt.NDArray[np.int32],
    is_path: npt.NDArray[np.bool_],
    destination: npt.NDArray[np.int64],
    turn: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]:
    """A link of a switch for each end, shape (E,); NO_LINK where none is on a path.

    Those of equal length are taken in turn, as subnet managers balance them.

    Args:
        links: Links of the switch, length L.
        is_path: Which of them lead to which destination, shape (L, D).
        destination: Destination of each end, shape (E,).
        turn: Number of each end, shape (E,).
    """
    count = is_path.sum(axis=0)[destination]
    order = np.argsort(~is_path, axis=0, kind="stable")
    chosen = links[order[turn % np.maximum(count, 1), destination]]
    return np.where(count > 0, chosen, NO_LINK).astype(np.int32)


def name_rails(ends: Sequence[End]) -> list[str]:
    """A line about hosts with several ends, or none."""
    count: dict[str, int] = {}
    for end in ends:
        count[end.host] = count.get(end.host, 0) + 1
    several = [host for host, number in count.items() if number > 1]
    if not several:
        return []
    names = f"{several[0]} and {len(several) - 1} more have" if several[1:] else f"{several[0]} has"
    return [
        f"{names} several adapters: pairs of hosts take those that are fewest links apart, in turn"
    ]


def name_unreached(ends: Sequence[End], next_link: npt.NDArray[np.int32]) -> list[str]:
    """A line about hosts to which some other host has no path by any of its rails, or none.

    Args:
        ends: Those of one host one after another, length E.
        next_link: Shape (S, E).
    """
    switch_of_end = np.array([end.switch for end in ends])
    hosts = [end.host for end in ends]
    begins = [at for at, host in enumerate(hosts) if at == 0 or hosts[at - 1] != host]
    lost = []
    # Hosts on the same switches are reached from the same ones.
    is_lost_of: dict[bytes, bool] = {}
    for begin, end in itertools.pairwise([*begins, len(ends)]):
        from_switch = (next_link[:, begin:end] != NO_LINK).any(axis=1)
        key = from_switch.tobytes()
        if key not in is_lost_of:
            from_host = np.logical_or.reduceat(from_switch[switch_of_end], begins)
            is_lost_of[key] = not from_host.all()
        if is_lost_of[key]:
            lost.append(hosts[begin])
    if not lost:
        return []
    more = f" and {len(lost) - 1} more hosts" if len(lost) > 1 else ""
    return [f"some host has no path to {lost[0]}{more}: such pairs are as far as the farthest"]


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
