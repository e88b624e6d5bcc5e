# SPDX-License-Identifier: Apache-2.0
"""A comparison of methods in the terminal, and the same facts for machines."""

from __future__ import annotations

import math
import re
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairlead.comparison import Comparison
from fairlead.report.scales import BYTES, SECONDS, human, three_digits
from fairlead.statistics import Interval

PREDICTIONS = ("comm_time_s", "serial_time_s", "bottleneck_s", "bottleneck_and_mean_s")
COLUMNS = (
    *("method", "mean (s)", "sd (s)", "95 % interval", "vs", "95 % interval"),
    *("inter_bytes", "intra_bytes", "comm_time_s", "serial_time_s"),
    *("bottleneck_s", "bottleneck_and_mean_s", "mapping", "runs"),
)
IN_TERMINAL = (0, 1, 2, 4, 5, 6, 8, 10)
"""Columns that the terminal shows; the page shows all."""


def columns(comparison: Comparison) -> list[str]:
    """Headings of `rows`."""
    return [f"{c} {comparison.baseline}" if c == "vs" else c for c in COLUMNS]


def rows(comparison: Comparison) -> list[list[str]]:
    """The table as text, one row per method in the order of the comparison."""
    return [_row(comparison, method) for method in comparison.methods]


def findings(comparison: Comparison) -> list[str]:
    """What the comparison shows, in plain sentences."""
    ranking = [comparison.agreement(name).sentence() for name in PREDICTIONS]
    return [_outcome(comparison), *(sentence for sentence in ranking if sentence)]


def facts(comparison: Comparison) -> dict[str, Any]:
    """Stored and derived values as plain values; None where one run says nothing of the noise."""
    stored = comparison.model_dump(mode="json")
    for method, record in stored["methods"].items():
        record["time_s"] = _plain(comparison.time_s(method))
        record["standard_deviation_s"] = _or_none(comparison.standard_deviation_s(method))
        record["time_ratio"] = _plain(comparison.time_ratio(method))
    stored["agreement"] = {name: _agreement(comparison, name) for name in PREDICTIONS}
    stored["fastest"] = comparison.fastest()
    stored["findings"] = findings(comparison)
    return stored


def comparison_table(comparison: Comparison, *, is_verbose: bool = False) -> RenderableType:
    """The table and what was found, for `console.print`.

    Args:
        comparison: The runs of each method.
        is_verbose: Also say whether each predicted cost ranks the methods as measured.
    """
    title = (
        f"{' '.join(comparison.program)} on {comparison.num_ranks} ranks, "
        f"{len(comparison.hosts)} hosts, {comparison.mpi}, {_run_counts(comparison)}"
    )
    table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    headings = columns(comparison)
    for index in IN_TERMINAL:
        heading = Text(_on_two_lines(headings[index]))
        table.add_column(heading, justify="left" if index == 0 else "right", no_wrap=True)
    for method, row in zip(comparison.methods, rows(comparison), strict=True):
        style = "bold" if method == comparison.fastest() else ""
        table.add_row(*(Text(row[index]) for index in IN_TERMINAL), style=style)
    told = findings(comparison) if is_verbose else findings(comparison)[:1]
    sentences = (Text(sentence) for sentence in told)
    measured = Text(f"Measured: {comparison.time_source()}.")
    return Group(Text(title, style="bold"), Text(), table, Text(), measured, *sentences)


def view(comparison: Comparison, width: int, *, is_verbose: bool = False) -> RenderableType:
    """The comparison for a terminal; the table needs 80 columns."""
    del width
    when = comparison.when.isoformat(timespec="seconds")
    spent = ", ".join(
        f"{name} {human(value, SECONDS)}"
        for name, value in (("probe", comparison.probe_s), ("trace", comparison.trace_s))
        if value
    )
    return Group(
        Text(f"Comparison of {when}; hosts {', '.join(comparison.hosts)}", style="dim"),
        *([Text(f"spent on measuring: {spent}", style="dim")] if spent else []),
        comparison_table(comparison, is_verbose=is_verbose),
    )


def _on_two_lines(heading: str) -> str:
    """A heading that is broken where it reads best, so that the table fits 80 columns."""
    break_at = r"(?<=%) |(?<=\w) (?=\()|(?<=vs) |(?<=_)(?=bytes|time)|(?=_s$)"
    return re.sub(break_at, "\n", heading, count=1)


def _run_counts(comparison: Comparison) -> str:
    counts = sorted({len(runs.times_s) for runs in comparison.methods.values()})
    return f"{' to '.join(map(str, {counts[0]: 0, counts[-1]: 0}))} runs each"


def _row(comparison: Comparison, method: str) -> list[str]:
    runs = comparison.methods[method]
    time_s, ratio = comparison.time_s(method), comparison.time_ratio(method)
    is_baseline = method == comparison.baseline
    return [
        method,
        three_digits(time_s.value),
        three_digits(comparison.standard_deviation_s(method)),
        _bounds(time_s),
        "1" if is_baseline else three_digits(ratio.value),
        "" if is_baseline else _bounds(ratio),
        _amount(runs.predicted.inter_bytes),
        _amount(runs.predicted.intra_bytes),
        _number(runs.predicted.comm_time_s),
        _number(runs.predicted.serial_time_s),
        _number(runs.predicted.bottleneck_s),
        _number(runs.predicted.bottleneck_and_mean_s),
        "–" if runs.mapping_s is None else human(runs.mapping_s, SECONDS),
        str(len(runs.times_s)),
    ]


def _outcome(comparison: Comparison) -> str:
    best = comparison.fastest()
    base = comparison.baseline
    if best == base:
        return f"No method was faster than {base}."
    ratio = comparison.time_ratio(best)
    if math.isnan(ratio.low):
        return (
            f"{best} was {1 / ratio.value:.2f} times as fast as {base} in a single run; "
            "one run says nothing about the noise."
        )
    interval = f"{1 / ratio.high:.2f} to {1 / ratio.low:.2f}" if ratio.low > 0 else "unknown"
    if comparison.is_tie(best, base):
        return (
            f"No method differs from {base} by more than the noise: the fastest, {best}, was "
            f"{1 / ratio.value:.2f} times as fast (95 % interval {interval})."
        )
    return f"{best} was {1 / ratio.value:.2f} times as fast as {base} (95 % interval {interval})."


def _agreement(comparison: Comparison, name: str) -> dict[str, Any]:
    found = comparison.agreement(name)
    return {
        "kendall_tau": _or_none(found.kendall.tau),
        "p_value": _or_none(found.kendall.p_value),
        "ties": found.ties,
        "inversions": found.inversions,
        "sentence": found.sentence(),
    }


def _bounds(interval: Interval) -> str:
    if math.isnan(interval.low):
        return "–"
    return f"{three_digits(interval.low)}–{three_digits(interval.high)}"


def _amount(value: float | None) -> str:
    return "–" if value is None else human(value, BYTES)


def _number(value: float | None) -> str:
    return "–" if value is None else three_digits(value)


def _plain(interval: Interval) -> dict[str, float | None]:
    return {name: _or_none(value) for name, value in interval._asdict().items()}


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
