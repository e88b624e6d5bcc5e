# SPDX-License-Identifier: Apache-2.0
"""A network that was just measured: a few lines for the terminal, everything as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairlead.measure.one_machine import describe_one_machine
from fairlead.model.network import Network
from fairlead.report import network_view
from fairlead.report.contention_view import contention_lines
from fairlead.report.estimates import estimate_lines
from fairlead.report.host_rates_view import host_rates_lines
from fairlead.units import format_duration, format_rate


def facts(network: Network, path: Path) -> dict[str, Any]:
    """The facts of `fairlead show`, and how often each pair was measured."""
    samples = [] if network.samples is None else network.samples.tolist()
    return {"file": str(path), **network_view.facts(network), "samples": samples}


def lines(network: Network, path: Path) -> list[str]:
    """What was measured and what was not."""
    lines = [
        f"{network.num_hosts} hosts measured in {format_duration(network.origin['probing_s'])} "
        f"after a launch of {format_duration(network.launch_s or 0.0)}",
    ]
    for title, matrix, show in (
        ("latency", network.latency_s, format_duration),
        ("bandwidth", network.bandwidth_Bps, format_rate),
    ):
        found = network_view.spread(matrix)
        if found.is_known:
            lines.append(
                f"{title}: {show(found.min)} to {show(found.max)}, median {show(found.median)}"
            )
    lines += host_rates_lines(network)
    lines += contention_lines(network)
    lines += estimate_lines(network)
    lines += [f"host {host!r} left out: {why}" for host, why in network.unreachable.items()]
    lines += describe_one_machine(network)
    lines += network_view.lines_of_unmeasured(network)
    return [*lines, f"written to {path}"]
