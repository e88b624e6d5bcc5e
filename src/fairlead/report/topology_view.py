# SPDX-License-Identifier: Apache-2.0
"""A topology in the terminal, and the same facts for machines."""

from __future__ import annotations

from typing import Any

from fairlead.model.topology import Topology


def facts(topology: Topology) -> dict[str, Any]:
    """The topology as plain values; its routes by their kind only."""
    at = topology.coordinates
    return {
        "hosts": list(topology.hosts),
        "router_of_host": list(topology.router_of_host),
        "num_links": topology.links.num_links,
        "routes": topology.routes.kind,
        "coordinates": None if at is None else at.tolist(),
        "problems": list(topology.problems),
        "origin": topology.origin,
    }


def lines(topology: Topology) -> list[str]:
    """What it is, in one line."""
    num_routers = len(set(topology.router_of_host))
    return [
        f"{topology.num_hosts} hosts on {num_routers} routers or switches, "
        f"{topology.links.num_links} links, routes of a {topology.routes.kind}"
    ]
