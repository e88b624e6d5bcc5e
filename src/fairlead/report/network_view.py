# SPDX-License-Identifier: Apache-2.0
"""A measured network in the terminal, and as facts for JSON."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairlead.decide.hosts.stragglers import straggler_lines
from fairlead.measure.one_machine import describe_one_machine
from fairlead.model.network import Network
from fairlead.report.contention_view import contention_facts, contention_tree, has_contention
from fairlead.report.estimates import estimate_lines
from fairlead.report.host_rates_view import host_rates_facts, host_rates_table
from fairlead.report.inside_view import has_inside, inside_facts, inside_table
from fairlead.report.origin import network_lines, origin_facts
from fairlead.report.plain import plain
from fairlead.report.scales import BYTES_PER_SECOND, SECONDS, Scale, common_scale, three_digits
from fairlead.report.terminal_heatmap import heatmap
from fairlead.report.terminal_table import table

Matrix = npt.NDArray[np.float64]

MAX_NAMED_PAIRS = 12


class Spread(NamedTuple):
    """Smallest, middle and largest value of the measured pairs of different hosts.

    Attributes:
        max_asymmetry_ratio: Largest ratio between the two directions of a pair, at least 1.
    """

    min: float
    median: float
    max: float
    max_asymmetry_ratio: float

    @property
    def is_known(self) -> bool:
        """Whether any pair was measured."""
        return bool(np.isfinite(self.median))


def between_hosts(matrix: Matrix) -> Matrix:
    """The matrix with `nan` on its diagonal."""
    return np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix)


def spread(matrix: Matrix) -> Spread:
    """Spread over the pairs of different hosts; all `nan` where none was measured."""
    values = between_hosts(matrix)
    measured = values[np.isfinite(values)]
    if measured.size == 0:
        return Spread(np.nan, np.nan, np.nan, np.nan)
    ratios = np.divide(values, values.T, where=values.T > 0, out=np.full_like(values, np.nan))
    known = ratios[np.isfinite(ratios)]
    asymmetry = float(known.max()) if known.size else np.nan
    return Spread(measured.min(), float(np.median(measured)), measured.max(), asymmetry)


def facts(network: Network) -> dict[str, Any]:
    """Everything `view` shows, as plain values; None where unmeasured."""
    return {
        "kind": "network",
        "hosts": list(network.hosts),
        **origin_facts(network),
        "latency_summary_s": plain(spread(network.latency_s)._asdict()),
        "bandwidth_summary_Bps": plain(spread(network.bandwidth_Bps)._asdict()),
        "unmeasured_pairs": network.unmeasured_pairs(),
        "estimated_pairs": [
            (network.hosts[src], network.hosts[dst])
            for src, dst in np.argwhere(network.is_estimated())
        ],
        "latency_s": plain(network.latency_s),
        "bandwidth_Bps": plain(network.bandwidth_Bps),
        **contention_facts(network),
        "insides": inside_facts(network),
        **host_rates_facts(network),
    }


def view(network: Network, width: int) -> RenderableType:
    """The network for a terminal of `width` columns."""
    parts: list[RenderableType] = [
        Text(f"Network of {network.num_hosts} hosts: {', '.join(network.hosts)}"),
        *(Text(f"{name}: {value}", style="dim") for name, value in network_lines(network)),
        Text(),
        _summary(network),
        *(Text(line, style="yellow") for line in estimate_lines(network)),
    ]
    for values, title, family, is_low_bright in (
        (network.latency_s, "Latency, one way", SECONDS, True),
        (network.bandwidth_Bps, "Bandwidth", BYTES_PER_SECOND, False),
    ):
        chart = heatmap(
            between_hosts(values),
            list(network.hosts),
            title=title,
            family=family,
            reduce=np.nanmedian,
            width=width,
            is_low_bright=is_low_bright,
        )
        parts += [Text(), chart]
    if has_contention(network):
        parts += [Text(), contention_tree(network)]
    if network.host_rates is not None:
        parts += [Text(), host_rates_table(network)]
        parts += [Text(line, style="yellow") for line in straggler_lines(network)]
    if has_inside(network):
        parts += [Text(), inside_table(network)]
    if network.num_hosts > 1:
        parts += [Text(), Text("Yellow is fast and violet is slow in both.", style="dim")]
    warnings = [*describe_one_machine(network), *lines_of_unmeasured(network)]
    return Group(*parts, *(Text(line, style="yellow") for line in warnings))


def _summary(network: Network) -> Table:
    shown = table(("between hosts", "min", "median", "max", "asymmetry"))
    for name, matrix, family in (
        ("latency", network.latency_s, SECONDS),
        ("bandwidth", network.bandwidth_Bps, BYTES_PER_SECOND),
    ):
        found = spread(matrix)
        scale: Scale = common_scale([found.median], family)
        values = (scale.with_unit(value) for value in found[:3])
        shown.add_row(name, *values, f"{three_digits(found.max_asymmetry_ratio)} x")
    return shown


def lines_of_unmeasured(network: Network) -> list[str]:
    """Which pairs were not measured, in one line; none where all were."""
    pairs = network.unmeasured_pairs()
    if not pairs:
        return []
    named = ", ".join(f"{src} → {dst}" for src, dst in pairs[:MAX_NAMED_PAIRS])
    more = len(pairs) - MAX_NAMED_PAIRS
    rest = f" and {more} more" if more > 0 else ""
    return [f"Not measured: {named}{rest}"]
