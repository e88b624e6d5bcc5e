# SPDX-License-Identifier: Apache-2.0
"""Hosts in groups of groups, as schedulers describe a network: racks, pods, the whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.errors import TopologyError
from fairlead.model.topology import Topology, TreeRoutes
from fairlead.model.topology.routes import NO_LINK

__all__ = ["HostGroups", "groups_of_topology"]

WHOLE = "all"
"""Group of all hosts, where the others have none in common."""


@dataclasses.dataclass(frozen=True)
class HostGroups:
    """Groups above each host.

    Attributes:
        groups_of_host: Names of the groups that each host is in, the largest first; as many for
            each host. A group is in one other.
        origin: Where they come from: a JSON-serialisable dictionary.
        problems: What they leave out, a line each.
    """

    groups_of_host: Mapping[str, tuple[str, ...]]
    origin: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    problems: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.groups_of_host:
            raise TopologyError("groups of hosts: at least one host is needed, got none")
        filled = _fill(self.groups_of_host)
        above: dict[str, tuple[str, ...]] = {}
        for groups in filled.values():
            for level, name in enumerate(groups):
                if above.setdefault(name, groups[:level]) != groups[:level]:
                    raise TopologyError(f"groups of hosts: {name!r} is in two others")
        object.__setattr__(self, "groups_of_host", filled)

    @property
    def num_levels(self) -> int:
        """Number of groups that each host is in."""
        return len(next(iter(self.groups_of_host.values())))

    def levels(self) -> list[dict[str, list[str]]]:
        """Members of each group, the largest groups first: groups, or hosts of the last level."""
        found: list[dict[str, list[str]]] = [{} for _ in range(self.num_levels)]
        for host, groups in self.groups_of_host.items():
            for level, name in enumerate(groups):
                member = (*groups, host)[level + 1]
                members = found[level].setdefault(name, [])
                if member not in members[-1:]:
                    members.append(member)
        return [{name: list(dict.fromkeys(m)) for name, m in level.items()} for level in found]


def groups_of_topology(topology: Topology) -> HostGroups:
    """The switches above each host.

    Where routes are not those of a tree, only which hosts are on one router is kept, with a line
    that says so.
    """
    origin = {"declared by": topology.source, **topology.origin}
    if not isinstance(topology.routes, TreeRoutes):
        return HostGroups(
            {
                host: (WHOLE, router)
                for host, router in zip(topology.hosts, topology.router_of_host, strict=True)
            },
            origin,
            [
                f"routes of a {topology.routes.kind} are no tree: only which hosts are on one "
                "router is written"
            ],
        )
    parents = topology.routes.parent_of_vertex.tolist()
    names = [port.partition(" ")[2] or port for port in topology.links.out_ports[::2]]
    found = {}
    for index, host in enumerate(topology.hosts):
        above, at = [], parents[index]
        while at != NO_LINK:
            above.append(names[at])
            at = parents[at]
        found[host] = tuple(reversed(above)) or (WHOLE,)
    return HostGroups(found, origin, topology.problems)


def _fill(groups_of_host: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """As many groups for each host: one that is right below a large group gets small ones."""
    most = max(map(len, groups_of_host.values()))
    filled = {}
    for host, groups in groups_of_host.items():
        own = list(groups or (WHOLE,))
        while len(own) < most:
            own.append(f"{own[-1]}-direct")
        filled[host] = tuple(own)
    return filled
