# SPDX-License-Identifier: Apache-2.0
"""The inside of hosts in the terminal, and as facts for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.errors import InputError
from fairlead.model.cpu_topology import TOP_LEVEL
from fairlead.model.host_inside import HostInside
from fairlead.model.network import Network
from fairlead.report.scales import BYTES_PER_SECOND, SECONDS, human
from fairlead.report.terminal_table import table

_NAMES = {
    "L3": "same L3",
    "NUMA": "same NUMA domain",
    "socket": "same socket",
    TOP_LEVEL: "other socket",
}


def inside_facts(network: Network) -> dict[str, Any]:
    """The inside of each host, by its name; topologies as their numbers of cores and groups."""
    return {host: _facts(inside) for host, inside in network.insides.items()}


def _facts(inside: HostInside) -> dict[str, Any]:
    try:
        topology = inside.topology
    except InputError as error:
        return inside.facts() | {"problem": str(error), "cores": None, "levels": None}
    levels = {level.name: len(level.groups) for level in topology.levels}
    return inside.facts() | {"cores": len(topology.cores), "levels": levels}


def has_inside(network: Network) -> bool:
    """Whether there is anything to show."""
    return bool(network.insides)


def inside_table(network: Network) -> RenderableType:
    """A row for each level on which CPUs of a host differ, and a line for hosts without one."""
    shown = table(("inside hosts", "hosts", "latency", "bandwidth"), texts=("inside hosts",))
    unknown: dict[str, list[str]] = {}
    levels: dict[str, list[str]] = {}
    for host, facts in inside_facts(network).items():
        if facts["problem"]:
            unknown.setdefault(facts["problem"], []).append(host)
        elif facts["levels"]:
            for name in (*facts["levels"], TOP_LEVEL):
                levels.setdefault(name, []).append(host)
    for name, title in _NAMES.items():
        hosts = levels.get(name, [])
        if hosts:
            rates = [network.insides[host].rates.get(name) for host in hosts]
            measured = np.array([rate for rate in rates if rate is not None]).reshape(-1, 2)
            latency_s, bandwidth_Bps = (
                np.median(measured, axis=0) if len(measured) else (np.nan, np.nan)
            )
            latency, bandwidth = human(latency_s, SECONDS), human(bandwidth_Bps, BYTES_PER_SECOND)
            shown.add_row(title, str(len(hosts)), latency, bandwidth)
    lines = [f"Inside of {', '.join(hosts)}: not known: {why}" for why, hosts in unknown.items()]
    if not levels and len(unknown) < 1:
        lines.append("Inside hosts, all CPUs are equally near.")
    parts: list[RenderableType] = [shown] if levels else []
    return Group(*parts, *(Text(line, style="dim") for line in lines))
