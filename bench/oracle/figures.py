# SPDX-License-Identifier: Apache-2.0
"""Figures of a paper's item: an interval, a table for people, a file for bench/papers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

Values = npt.NDArray[np.float64]


class Figure(NamedTuple):
    """A number of the paper and ours, with a 95 % interval where runs differ."""

    name: str
    unit: str
    paper: float | str | None
    value: float
    low: float | None = None
    high: float | None = None
    samples: int = 1


def mean_of(
    name: str,
    unit: str,
    paper: float | str | None,
    samples: Sequence[Sequence[float]] | Values,
    of_means: Callable[..., float] = lambda value: value,
) -> Figure:
    """A figure from the means of some quantities over runs; the interval is by bootstrap.

    Args:
        name, unit, paper: As they are printed.
        samples: A row for each quantity, a column for each run.
        of_means: The figure, from the mean of each row.
    """
    rows = np.atleast_2d(np.asarray(samples, dtype=np.float64))
    num_runs = rows.shape[1]
    value = float(of_means(*rows.mean(axis=1)))
    if num_runs < 2 or not np.ptp(rows, axis=1).any():
        return Figure(name, unit, paper, value, samples=num_runs)
    random = np.random.default_rng(0)
    drawn = random.integers(num_runs, size=(2000, num_runs))
    values = [of_means(*rows[:, each].mean(axis=1)) for each in drawn]
    low, high = np.quantile(values, [0.025, 0.975])
    return Figure(name, unit, paper, value, float(low), float(high), num_runs)


def print_figures(figures: Sequence[Figure], title: str) -> None:
    """Print a table for people."""
    table = Table("", "here", "95 %", "the paper", "unit", "runs", title=title, box=None)
    for each in figures:
        interval = "" if each.low is None else f"{each.low:.4g} to {each.high:.4g}"
        paper = "" if each.paper is None else str(each.paper)
        table.add_row(each.name, f"{each.value:.4g}", interval, paper, each.unit, str(each.samples))
    Console(width=140).print(table)


def write_figures(figures: Sequence[Figure], file: Path | None) -> None:
    """Write the file of bench/papers where one is asked for."""
    if file is not None:
        file.write_text(json.dumps([each._asdict() for each in figures], indent=1) + "\n")
