# SPDX-License-Identifier: Apache-2.0
"""A topology from the switches above each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.errors import InputError
from fairlead.model.topology import Topology, TreeRoutes
from fairlead.model.topology.routes import NO_LINK
from fairlead.model.topology.tree import links_of_tree

__all__ = ["host_port", "tree_topology"]

ROOT = "(root)"
"""Above what has no switch in common."""


def host_port(host: str) -> str:
    """Name of the interface of a host among the ports."""
    return f"host {host}"


def tree_topology(
    switches_of_host: Mapping[str, Sequence[str]],
    origin: Mapping[str, Any],
    source: str,
    problems: Sequence[str] = (),
) -> Topology:
    """Hosts below their switches.

    Args:
        switches_of_host: Switches above each host, the highest first; a switch is below one other.
        origin: Where it comes from.
        source: What errors call it.
        problems: What is wrong with it.

    Raises:
        InputError: A switch is below two others, or there is no host.
    """
    if not switches_of_host:
        raise InputError(f"{source}: names no host")
    tops = {tuple(switches)[:1] for switches in switches_of_host.values()}
    has_one_top = len(tops) == 1 and () not in tops
    hosts = list(switches_of_host)
    vertex_of: dict[str, int] = {}
    parent_of: list[int] = []

    def vertex(name: str, parent: int) -> int:
        if name not in vertex_of:
            vertex_of[name] = len(hosts) + len(parent_of)
            parent_of.append(parent)
        elif parent_of[vertex_of[name] - len(hosts)] != parent:
            raise InputError(f"{source}: switch {name!r} is below two others")
        return vertex_of[name]

    parent_of_host, router_of_host = [], []
    for switches in switches_of_host.values():
        at = NO_LINK if has_one_top else vertex(ROOT, NO_LINK)
        for switch in switches:
            at = vertex(switch, at)
        parent_of_host.append(at)
        router_of_host.append(switches[-1] if switches else ROOT)
    names = [*map(host_port, hosts), *(f"switch {name}" for name in vertex_of)]
    return Topology(
        hosts=hosts,
        links=links_of_tree(names),
        routes=TreeRoutes([*parent_of_host, *parent_of], len(hosts)),
        router_of_host=router_of_host,
        origin=dict(origin),
        problems=problems,
        source=source,
    )
