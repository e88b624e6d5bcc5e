# SPDX-License-Identifier: Apache-2.0
"""HPE Slingshot: a dragonfly from the list of its cables, by minimal routes."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.topologies.dragonfly import minimal_routes
from fairlead.measure.topologies.shortest_paths import (
    End,
    between_hosts,
    name_rails,
    require_table,
)
from fairlead.measure.topologies.slingshot_cables import (
    Cables,
    node_of,
    read_cables,
    switch_of,
)
from fairlead.measure.topologies.switch_tree import host_port
from fairlead.model.topology import Links, Topology
from fairlead.model.topology.routes import NO_LINK

__all__ = ["read"]


def read(path: Path, nodes: Path | None = None) -> Topology:
    """Groups, switches and nodes, by minimal routes.

    Args:
        path: The list of cables.
        nodes: Lines of a node's xname and its host; None: hosts are called by their xnames.

    Raises:
        InputError: It is something else, contradicts itself, or holds no cable of a node.
    """
    cables = read_cables(path)
    if not cables.adapters:
        raise InputError(f"{path}: holds no cable between a switch and a node")
    host_of = _hosts(cables.adapters, nodes)
    switches = list(cables.group_of)
    at = {switch: index for index, switch in enumerate(switches)}
    out_ports: list[str] = []
    in_ports: list[str] = []
    after: list[int] = []

    def add(near: str, far: str, to_far: int, to_near: int) -> int:
        """Both links of a cable; the number of the first."""
        out_ports.extend((near, far))
        in_ports.extend((far, near))
        after.extend((to_far, to_near))
        return len(after) - 2

    adapters_of: dict[str, list[str]] = {}
    for adapter in cables.adapters:
        adapters_of.setdefault(node_of(adapter), []).append(adapter)
    ends = []
    for node, host in host_of.items():
        for index, adapter in enumerate(sorted(adapters_of[node])):
            jack = cables.adapters[adapter]
            switch = at[switch_of(jack)]
            own = host_port(host) + (f" on {adapter}" if index else "")
            link = add(own, f"{jack} to {adapter}", switch, NO_LINK)
            ends.append(End(host, switch, link, link + 1))
    require_table(str(path), len(switches), len(ends))
    between = []
    for one, other in cables.between:
        ends_at = at[switch_of(one)], at[switch_of(other)]
        link = add(one, other, ends_at[1], ends_at[0])
        between += [(*ends_at, link), (*ends_at[::-1], link + 1)]
    groups = list(cables.group_of.values())
    next_link = minimal_routes(groups, between, ends)
    hosts, first, routes = between_hosts(ends, next_link, after)
    return Topology(
        hosts=hosts,
        links=Links(in_ports, out_ports, np.full(len(after), np.nan)),
        routes=routes,
        router_of_host=[switches[ends[end].switch] for end in first],
        origin={
            "how": "slingshot",
            "file": str(path),
            "routes": "minimal routes of a dragonfly",
            "num_groups": len(set(groups)),
        },
        problems=[*_problems(cables, between, groups, switches), *name_rails(ends)],
        source=str(path),
    )


def _hosts(adapters: Mapping[str, str], nodes: Path | None) -> dict[str, str]:
    """Host of each node: all by their xnames, or those that a file names."""
    known = dict.fromkeys(node_of(adapter) for adapter in adapters)
    if nodes is None:
        return {node: node for node in known}
    host_of: dict[str, str] = {}
    taken: set[str] = set()
    for number, line in enumerate(read_lines(nodes), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] in host_of or words[1] in taken:
            raise InputError(
                f"{nodes}:{number}: expected a node's xname and its host, got {line!r:.80}"
            )
        if words[0] not in known:
            raise InputError(f"{nodes}:{number}: node {words[0]!r:.80} has no cable in the list")
        host_of[words[0]] = words[1]
        taken.add(words[1])
    if not host_of:
        raise InputError(f"{nodes}: names no host; expected lines of a node's xname and its host")
    return host_of


def _problems(
    cables: Cables,
    between: Sequence[tuple[int, int, int]],
    groups: Sequence[int],
    switches: Sequence[str],
) -> Iterator[str]:
    """What minimal routes miss."""
    if cables.lost.count:
        yield f"{cables.lost.count} rows were passed over, the first is {cables.lost.first}"
    apart, number = _first_missing(
        sorted(set(groups)), {(groups[a], groups[b]) for a, b, _ in between}
    )
    if apart is not None:
        more = f", and {number - 1} more pairs" if number > 1 else ""
        yield (
            f"groups {apart[0]} and {apart[1]} have no cable between them{more}: minimal routes "
            "need one, so their hosts are as far as the farthest"
        )
    members: dict[int, list[int]] = {}
    for switch, group in enumerate(groups):
        members.setdefault(group, []).append(switch)
    local: dict[int, set[tuple[int, int]]] = {group: set() for group in members}
    for one, other, _ in between:
        if groups[one] == groups[other]:
            local[groups[one]].add((one, other))
    found = [_first_missing(members[group], local[group]) for group in members]
    total = sum(count for _, count in found)
    first = next((pair for pair, _ in found if pair is not None), None)
    if first is not None:
        more = f", and {total - 1} more pairs of one group" if total > 1 else ""
        yield (
            f"{switches[first[0]]} and {switches[first[1]]} have no cable between them{more}: "
            "routes go by other switches"
        )


def _first_missing(
    members: Sequence[int], joined: Collection[tuple[int, int]]
) -> tuple[tuple[int, int] | None, int]:
    """The first pair that has no cable, and how many have none.

    Args:
        members: Groups, or switches of one.
        joined: Pairs with a cable, both ways.
    """
    pairs = {(one, other) for one, other in joined if one < other}
    count = len(members) * (len(members) - 1) // 2 - len(pairs)
    if not count:
        return None, 0
    return next(
        pair for pair in itertools.combinations(sorted(members), 2) if pair not in pairs
    ), count
