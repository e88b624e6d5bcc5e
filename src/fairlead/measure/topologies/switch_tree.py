# SPDX-License-Identifier: Apache-2.0
"""A topology from the switches above each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.errors import InputError
from fairlead.model.topology import Topology, TreeRoutes
from fairlead.model.topology.routes import NO_LINK
from fairlead.model.topology.tree import links_of_tree

__all__ = ["MOST_LEVELS", "fill_up", "fill_up_above", "host_port", "tree_topology"]

MOST_LEVELS = 64
"""Switches above a host; no network in use has a quarter of it."""

ROOT = "(root)"
"""Above what has no switch in common."""


def host_port(host: str) -> str:
    """Name of the interface of a host among the ports."""
    return f"host {host}"


def _require_shallow(switches_of_host: Mapping[str, Sequence[str]], source: str) -> None:
    """Check the levels before all hosts get as many as the one with most."""
    for host, switches in switches_of_host.items():
        if len(switches) > MOST_LEVELS:
            raise InputError(
                f"{source}: host {host!r} is below {len(switches)} switches; at most "
                f"{MOST_LEVELS} are allowed"
            )


def fill_up(
    switches_of_host: Mapping[str, Sequence[str]], num_levels: int, source: str
) -> tuple[dict[str, list[str | None]], list[str]]:
    """Each host below as many switches as any, with unknown ones where some are missing.

    Without them a host of which nothing is known would be two links from every other such host,
    which is nearer than any known pair.

    Args:
        switches_of_host: Switches above each host, the highest first; the lowest may be missing.
        num_levels: How many switches are above each host at least.
        source: What errors call it.

    Returns:
        The switches with None for unknown ones, and lines that name the hosts.

    Raises:
        InputError: A host is below more switches than any.
    """
    _require_shallow(switches_of_host, source)
    most = max([num_levels, *(len(switches) for switches in switches_of_host.values())])
    filled: dict[str, list[str | None]] = {
        host: [*switches, *[None] * (most - len(switches))]
        for host, switches in switches_of_host.items()
    }
    nothing = [host for host, switches in switches_of_host.items() if not switches]
    partly = [host for host, switches in switches_of_host.items() if 0 < len(switches) < most]
    lines = []
    for hosts, what in ((nothing, "nothing is"), (partly, f"not all {most} levels are")):
        if hosts:
            more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
            lines.append(
                f"{what} known of where {hosts[0]}{more} is: taken to be as far from the others "
                "as what is known allows"
            )
    return filled, lines


def fill_up_above(
    switches_of_host: Mapping[str, Sequence[str]], source: str
) -> tuple[dict[str, list[str | None]], list[str]]:
    """Each top switch as high as the highest, with unknown ones above where there are several.

    Without them two switches that are connected to nothing would be as near to one another as two
    below a known one.

    Args:
        switches_of_host: Switches above each host, the highest first; at least one each.
        source: What errors call it.

    Returns:
        The switches, and a line that names the tops.

    Raises:
        InputError: A host is below more switches than any.
    """
    _require_shallow(switches_of_host, source)
    height_of_top: dict[str, int] = {}
    for switches in switches_of_host.values():
        height_of_top[switches[0]] = max(height_of_top.get(switches[0], 0), len(switches))
    most = max(height_of_top.values())
    filled: dict[str, list[str | None]] = {
        host: [
            *(
                f"(unknown, {level} above {switches[0]})"
                for level in range(most - height_of_top[switches[0]], 0, -1)
            ),
            *switches,
        ]
        for host, switches in switches_of_host.items()
    }
    if len(height_of_top) == 1:
        return filled, []
    first, second = list(height_of_top)[:2]
    return filled, [
        f"no switch is above all nodes: what is between {first} and {second} is unknown, and taken "
        "to be as far as the farthest"
    ]


def tree_topology(
    switches_of_host: Mapping[str, Sequence[str | None]],
    origin: Mapping[str, Any],
    source: str,
    problems: Sequence[str] = (),
) -> Topology:
    """Hosts below their switches.

    Args:
        switches_of_host: Switches above each host, the highest first; a switch is below one other.
            None is an unknown switch: one of this host alone, so that the host is as far from all
            others as what is known of it allows.
        origin: Where it comes from.
        source: What errors call it.
        problems: What is wrong with it.

    Raises:
        InputError: A switch is below two others, or there is no host.
    """
    if not switches_of_host:
        raise InputError(f"{source}: names no host")
    tops = {tuple(switches)[:1] for switches in switches_of_host.values()}
    has_one_top = len(tops) == 1 and not tops & {(), (None,)}
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
    for host, switches in switches_of_host.items():
        at = NO_LINK if has_one_top else vertex(ROOT, NO_LINK)
        for level, switch in enumerate(switches):
            at = vertex(f"(unknown, level {level} of {host})" if switch is None else switch, at)
        parent_of_host.append(at)
        router_of_host.append(next((each for each in reversed(switches) if each), ROOT))
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
