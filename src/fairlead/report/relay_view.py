# SPDX-License-Identifier: Apache-2.0
"""Paths between hosts and the counters of routers, in the terminal and as facts for JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from fairlead.flows.relay_status import RelayStatus
from fairlead.model.path_table import Route
from fairlead.units import format_duration, format_rate, format_size


def facts(status: RelayStatus) -> dict[str, Any]:
    """The path table with the names of hosts, and the counters of each router."""
    hosts = status.table.hosts
    return {
        "run": str(status.run),
        "threshold_bytes": status.threshold_bytes,
        "rule": status.rule,
        "routes": [
            {**dataclasses.asdict(route), "path": list(_names(route, hosts))}
            for route in status.table.routes
        ],
        "routers": dict(zip(hosts, status.counters, strict=True)),
    }


def view(status: RelayStatus) -> RenderableType:
    """A line for each path, then one for each router."""
    hosts = status.table.hosts
    paths = Table("path", "latency", "rate", title=f"Paths of {status.run.name}, by {status.rule}")
    for route in status.table.routes:
        names = " → ".join(_names(route, hosts))
        paths.add_row(names, format_duration(route.latency_s), format_rate(route.bandwidth_Bps))
    routers = Table("router", "forwarded", "delivered", "waiting", "dropped")
    for host, counters in zip(hosts, status.counters, strict=True):
        routers.add_row(host, *_counted(counters))
    return Group(paths, routers)


def _names(route: Route, hosts: tuple[str, ...]) -> list[str]:
    return [hosts[route.src], *(hosts[hop] for hop in route.hops)]


def _counted(counters: dict[str, float] | None) -> list[str]:
    if counters is None:
        return ["not running here", "", "", ""]
    dropped = sum(value for name, value in counters.items() if name.startswith("drops_total"))
    return [
        format_size(counters.get("forwarded_bytes_total", 0.0)),
        format_size(counters.get("delivered_bytes_total", 0.0)),
        format_size(counters.get("queued_bytes", 0.0)),
        f"{dropped:.0f}",
    ]
