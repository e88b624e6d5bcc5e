# SPDX-License-Identifier: Apache-2.0
"""Figures as bench/papers keeps them: the paper's value and ours."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from fairlead.flows.compare.statistics import mean_interval


@dataclasses.dataclass(frozen=True)
class Figure:
    """One number of an item.

    Attributes:
        paper: Its value, a text where it has none, or None where it shows nothing of the kind.
        low, high: 95 % interval; None where the result is the same in each run.
        samples: Independent runs.
    """

    name: str
    unit: str
    paper: float | str | None
    value: float
    low: float | None = None
    high: float | None = None
    samples: int = 1


def mean_of(name: str, unit: str, paper: float | str | None, values: Sequence[float]) -> Figure:
    """The mean of independent runs."""
    if len(values) < 2:
        return Figure(name, unit, paper, float(values[0]))
    found = mean_interval(list(values))
    return Figure(name, unit, paper, found.value, found.low, found.high, len(values))


def less_percent(time_s: float, than_s: float) -> float:
    """How much less time, in percent, as which the paper's improvements are read."""
    return 100.0 * (1.0 - time_s / than_s)


def quantiles_of(
    name: str, unit: str, values: Sequence[float], at: Sequence[float]
) -> list[Figure]:
    """Points of a distribution."""
    return [
        Figure(f"{name}, {share:.0%} of them within", unit, None, float(np.quantile(values, share)))
        for share in at
    ]


def table_of(title: str, figures: Sequence[Figure]) -> Table:
    table = Table("figure", "unit", "the paper", "here", "95 % interval", "runs", title=title)
    for figure in figures:
        is_number = isinstance(figure.paper, float | int)
        interval = "" if figure.low is None else f"{figure.low:.4g} to {figure.high:.4g}"
        table.add_row(
            figure.name,
            figure.unit,
            f"{figure.paper:.4g}" if is_number else str(figure.paper or ""),
            f"{figure.value:.4g}",
            interval,
            str(figure.samples),
        )
    return table


def write(figures: Sequence[Figure], path: Path) -> None:
    path.write_text(json.dumps([dataclasses.asdict(figure) for figure in figures], indent=1) + "\n")
