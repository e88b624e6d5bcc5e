# SPDX-License-Identifier: Apache-2.0
"""A topology in the terminal, and the same facts for machines."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.model.topology import Topology
from fairlead.report.origin import origin_lines
from fairlead.report.scales import BYTES_PER_SECOND, human
from fairlead.report.terminal_table import table


def facts(topology: Topology) -> dict[str, Any]:
    """The topology as plain values; its routes by their kind only."""
    at = topology.coordinates
    return {
        "kind": "topology",
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


def view(topology: Topology, width: int) -> RenderableType:
    """The topology for a terminal of `width` columns: a row for each host."""
    has_coordinates, has_nics = topology.coordinates is not None, topology.nic_Bps is not None
    columns = ["host", "router", *["coordinates"] * has_coordinates, *["interface"] * has_nics]
    hosts = table(tuple(columns), texts=("host", "router"))
    for index, (host, router) in enumerate(
        zip(topology.hosts, topology.router_of_host, strict=True)
    ):
        cells: list[RenderableType] = [Text(host), Text(router)]
        if topology.coordinates is not None:
            cells.append(" ".join(f"{at:g}" for at in topology.coordinates[index]))
        if topology.nic_Bps is not None:
            cells.append(human(float(topology.nic_Bps[index]), BYTES_PER_SECOND))
        hosts.add_row(*cells)
    return Group(
        *(Text(line) for line in lines(topology)),
        *(Text(f"{name}: {value}", style="dim") for name, value in origin_lines(topology.origin)),
        *(Text(problem, style="yellow") for problem in topology.problems),
        Text(),
        hosts,
    )
