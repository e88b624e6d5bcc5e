# SPDX-License-Identifier: Apache-2.0
"""A comparison of methods in the terminal, and as facts for JSON."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairlead.flows.compare.comparison import Comparison
from fairlead.flows.compare.statistics import Interval
from fairlead.model.cost_names import PREDICTED_TIMES
from fairlead.report.comparison_tables import method_title, speed_ratio
from fairlead.report.cost_view import UNKNOWN, cost_text
from fairlead.report.plain import plain
from fairlead.report.scales import SECONDS, human, three_digits

UNDECIDED = "These runs do not decide; repeat with a larger --repeats."
DECIDING_RATIO = 1.1
"""Ends of an interval that are further apart leave open a gain that is worth having."""


def findings(comparison: Comparison) -> list[str]:
    """What the comparison shows, in plain sentences."""
    names = [name for name in PREDICTED_TIMES if comparison.knows(name)]
    ranking = [comparison.agreement(name).sentence() for name in names]
    return [_outcome(comparison), *(sentence for sentence in ranking if sentence)]


def facts(comparison: Comparison) -> dict[str, Any]:
    """Stored and derived values as plain values; None where a single run has no interval."""
    stored = comparison.model_dump(mode="json")
    for method, record in stored["methods"].items():
        record["time_s"] = plain(comparison.time_s(method)._asdict())
        record["standard_deviation_s"] = plain(comparison.standard_deviation_s(method))
        record["time_ratio"] = plain(comparison.time_ratio(method)._asdict())
    stored["agreement"] = {
        name: _agreement(comparison, name) for name in PREDICTED_TIMES if comparison.knows(name)
    }
    stored["fastest"] = comparison.fastest()
    stored["findings"] = findings(comparison)
    return stored


def comparison_table(comparison: Comparison, *, is_verbose: bool = False) -> RenderableType:
    """The table and the findings, for `console.print`.

    Args:
        comparison: The runs of each method.
        is_verbose: Also say whether each predicted cost ranks the methods as measured.
    """
    title = (
        f"{_program(comparison)} on {comparison.num_ranks} ranks, "
        f"{len(comparison.hosts)} hosts, {comparison.mpi}, {_run_counts(comparison)}"
    )
    table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    for index, heading in enumerate(_headings(comparison)):
        # Equal placements share a row: their names are broken, so that no number is cut off.
        table.add_column(Text(heading), justify="right" if index else "left", no_wrap=index > 0)
    for method in comparison.distinct():
        style = "bold" if method == comparison.fastest() else ""
        table.add_row(*map(Text, _row(comparison, method)), style=style)
    shown = findings(comparison) if is_verbose else findings(comparison)[:1]
    sentences = (Text(sentence) for sentence in shown)
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


def _headings(comparison: Comparison) -> tuple[str, ...]:
    """Names of the columns, broken so that the table fits 80 columns."""
    return (
        *("method", "mean\n(s)", "sd\n(s)", "times\nas fast", "95 %\ninterval"),
        *("bytes\nbetween\nhosts", "time on the\nnetwork (s)"),
    )


def _program(comparison: Comparison) -> str:
    """The program by its name without its folder, and its arguments."""
    return " ".join([comparison.program[0].rpartition("/")[2], *comparison.program[1:]])


def _run_counts(comparison: Comparison) -> str:
    counts = sorted({len(runs.times_s) for runs in comparison.methods.values()})
    return f"{' to '.join(map(str, {counts[0]: 0, counts[-1]: 0}))} runs each"


def _row(comparison: Comparison, method: str) -> list[str]:
    runs = comparison.methods[method]
    speed = speed_ratio(comparison, method)
    is_baseline = method == comparison.baseline
    return [
        method_title(comparison, method),
        three_digits(comparison.time_s(method).value),
        three_digits(comparison.standard_deviation_s(method)),
        "1" if is_baseline else f"{speed.value:.2f}",
        "" if is_baseline else _bounds(speed),
        cost_text("inter_bytes", runs.predicted.inter_bytes),
        _number(runs.predicted.bottleneck_and_mean_s),
    ]


def _outcome(comparison: Comparison) -> str:
    best = comparison.fastest()
    base = comparison.baseline
    if best == base:
        found = f"No method was faster than {base}."
        others = [name for name in comparison.distinct() if name != base]
        return f"{found} {UNDECIDED}" if any(map(partial(_is_open, comparison), others)) else found
    speed = speed_ratio(comparison, best)
    if math.isnan(speed.low):
        return (
            f"{best} was {speed.value:.2f} times as fast as {base} in a single run; "
            "one run says nothing about the noise."
        )
    interval = f"95 % interval {speed.low:.2f} to {speed.high:.2f}"
    if not comparison.is_tie(best, base):
        return f"{best} was {speed.value:.2f} times as fast as {base} ({interval})."
    found = (
        f"No method differs from {base} by more than the noise: the fastest, {best}, was "
        f"{speed.value:.2f} times as fast ({interval})."
    )
    return f"{found} {UNDECIDED}" if _is_open(comparison, best) else found


def _is_open(comparison: Comparison, method: str) -> bool:
    """Whether the runs leave open that the method is faster than the baseline by a few percent."""
    speed = speed_ratio(comparison, method)
    return speed.low < 1 < speed.high and speed.high >= DECIDING_RATIO * speed.low


def _agreement(comparison: Comparison, name: str) -> dict[str, Any]:
    found = comparison.agreement(name)
    return {
        "kendall_tau": plain(found.kendall.tau),
        "p_value": plain(found.kendall.p_value),
        "ties": found.ties,
        "inversions": found.inversions,
        "sentence": found.sentence(),
    }


def _bounds(interval: Interval) -> str:
    if math.isnan(interval.low):
        return "–"
    return f"{three_digits(interval.low)}–{three_digits(interval.high)}"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else three_digits(value)
