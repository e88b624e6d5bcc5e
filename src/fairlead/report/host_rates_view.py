# SPDX-License-Identifier: Apache-2.0
"""How fast hosts compute, in the terminal and as facts for JSON."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table

from fairlead.decide.hosts.stragglers import straggler_lines
from fairlead.model.host_rates import RATES
from fairlead.model.network import Network
from fairlead.model.straggler_rule import Straggler, stragglers
from fairlead.report import page_table
from fairlead.report.terminal_table import table
from fairlead.units import format_rate

_HEADINGS = (
    "host",
    "cores",
    "multiply-adds, one core",
    "all cores",
    "memory, one core",
    "all cores",
)

_GIGA = 1e9


def host_rates_facts(network: Network) -> dict[str, Any]:
    """Rates of the hosts with their intervals, and the stragglers; None where not measured.

    Why those of a host are unknown is in the origin.
    """
    rates = network.host_rates
    if rates is None:
        return {"host_rates": None, "stragglers": None}
    return {
        "host_rates": rates.facts(tuple(network.hosts)),
        "stragglers": straggler_facts(network, stragglers(rates)),
    }


def straggler_facts(network: Network, found: Sequence[Straggler]) -> list[dict[str, Any]]:
    """Each straggler with its host's name."""
    return [one._asdict() | {"host": network.hosts[one.host]} for one in found]


def host_rates_lines(network: Network) -> list[str]:
    """The spread over hosts in a line, one for each straggler, and one for each unknown host.

    None where hosts were not measured.
    """
    problems = network.origin.get("unknown_host_rates")
    unknown = [
        f"how fast {host} computes is unknown: {problem}"
        for host, problem in (problems.items() if isinstance(problems, dict) else ())
        if host in network.hosts
    ]
    if network.host_rates is None:
        return unknown
    shown = []
    for rate, name in ((1, "multiply-adds"), (3, "memory")):
        values = network.host_rates.rates[:, rate]
        known = values[np.isfinite(values)]
        if known.size:
            low, high = (_text(rate, value) for value in (known.min(), known.max()))
            shown.append(f"{low} to {high} {name}")
    unknown += _unknown_memory_lines(network)
    return [f"hosts, all cores: {', '.join(shown)}", *straggler_lines(network), *unknown]


def _unknown_memory_lines(network: Network) -> list[str]:
    assert network.host_rates is not None
    is_known = np.isfinite(network.host_rates.rates)
    lacks_memory = is_known[:, 1] & ~is_known[:, 3]
    hosts = [host for host, lacks in zip(network.hosts, lacks_memory, strict=True) if lacks]
    if not hosts:
        return []
    return [
        f"memory bandwidth of {', '.join(hosts)} is unknown: the kernel shows no caches there, or "
        "too little memory is free for arrays that exceed them"
    ]


def host_rates_table(network: Network) -> Table:
    """A row for each host: its rates with half the width of their intervals."""
    shown = table(_HEADINGS)
    for row in _rows(network):
        shown.add_row(*row)
    return shown


def host_rates_body(network: Network) -> str:
    """The same for the page: HTML of sentences on stragglers, and the table."""
    sentences = straggler_lines(network) or ["No host is slower than the others beyond the noise."]
    paragraphs = "".join(f"<p>{html.escape(line)}</p>" for line in sentences)
    return paragraphs + page_table.table("How fast each host computes", _HEADINGS, _rows(network))


def _rows(network: Network) -> list[list[str]]:
    assert network.host_rates is not None
    slow = {one.host for one in stragglers(network.host_rates)}
    rows = []
    for index, host in enumerate(network.hosts):
        cells = [_cell(network.host_rates.values[index, rate], rate) for rate in range(len(RATES))]
        name = f"{host} (slow)" if index in slow else host
        rows.append([name, str(network.host_rates.num_cores[index]), *cells])
    return rows


def _cell(interval: np.ndarray[Any, Any], rate: int) -> str:
    value, low, high = interval
    if not np.isfinite(value):
        return "-"
    return f"{_text(rate, value)} ± {(high - low) / 2 / value:.0%}"


def _text(rate: int, value: float) -> str:
    return format_rate(value) if RATES[rate].endswith("_Bps") else f"{value / _GIGA:.3g} G/s"
