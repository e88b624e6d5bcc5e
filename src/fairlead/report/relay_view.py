# SPDX-License-Identifier: Apache-2.0
"""Paths between hosts and the counters of routers, in the terminal and as facts for JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from fairlead.flows.relay.status import RelayStatus
from fairlead.flows.run.relays import relay_traffic_line
from fairlead.model.path_table import HostPath
from fairlead.units import format_duration, format_rate, format_size
from fairlead.watch.relay_traffic import LearnedPath


def facts(status: RelayStatus) -> dict[str, Any]:
    """The path table with names, what each path carried and what was learned of it; counters."""
    hosts = status.table.hosts
    return {
        "run": str(status.run),
        "threshold_bytes": status.threshold_bytes,
        "rule": status.rule,
        "routes": [
            {
                **dataclasses.asdict(path),
                "path": list(_names(path, hosts)),
                "carried_bytes": _bytes_of_path(status, path),
                "learned": _facts_of_learned(status, path),
            }
            for path in status.table.paths
        ],
        "by_mpi_bytes": None if status.traffic is None else status.traffic.mpi_bytes,
        "routers": dict(zip(hosts, status.counters, strict=True)),
    }


def view(status: RelayStatus) -> RenderableType:
    """A line for each path, then one for each router, then what carried the messages."""
    hosts = status.table.hosts
    title = f"Paths of {status.run.name}, by {status.rule}"
    paths = Table("path", "latency", "rate", "carried", "last latency", "last rate", title=title)
    for path in status.table.paths:
        size_bytes, learned = _bytes_of_path(status, path), _find_learned(status, path)
        paths.add_row(
            " → ".join(_names(path, hosts)),
            format_duration(path.latency_s),
            format_rate(path.bandwidth_Bps),
            "" if size_bytes is None else format_size(size_bytes),
            "" if learned is None else format_duration(learned.latency_s),
            "" if learned is None else format_rate(learned.rate_Bps),
        )
    routers = Table("router", "forwarded", "delivered", "waiting", "dropped")
    for host, counters in zip(hosts, status.counters, strict=True):
        routers.add_row(host, *_lines_of_counters(counters))
    lines = []
    if status.traffic is not None:
        lines.append(relay_traffic_line(status.traffic, hosts, status.threshold_bytes))
    return Group(paths, routers, *lines)


def _names(path: HostPath, hosts: tuple[str, ...]) -> list[str]:
    return [hosts[path.src], *(hosts[hop] for hop in path.hops)]


def _bytes_of_path(status: RelayStatus, path: HostPath) -> int | None:
    if status.traffic is None:
        return None
    return status.traffic.by_routers.get((path.src, *path.hops), 0)


def _find_learned(status: RelayStatus, path: HostPath) -> LearnedPath | None:
    if status.traffic is None:
        return None
    return status.traffic.learned.get((path.src, *path.hops))


def _facts_of_learned(status: RelayStatus, path: HostPath) -> dict[str, float] | None:
    learned = _find_learned(status, path)
    return None if learned is None else learned._asdict()


def _lines_of_counters(counters: dict[str, float] | None) -> list[str]:
    if counters is None:
        return ["not running here", "", "", ""]
    dropped = sum(value for name, value in counters.items() if name.startswith("drops_total"))
    return [
        format_size(counters.get("forwarded_bytes_total", 0.0)),
        format_size(counters.get("delivered_bytes_total", 0.0)),
        format_size(counters.get("queued_bytes", 0.0)),
        f"{dropped:.0f}",
    ]
