#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SPREAD's figures 2 to 5 and what its text says about them, by each reading of the text.

B, C and D are Blocked, Cyclic and DRB (Scotch, once), N is `spread`, the paper's figure 1, and G is
`spread-group`, our variant. Simulated, nothing is measured: the same on every machine.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from gains import BASELINES, PAPER_GAINS, gain
from readings import (
    REAL,
    REAL_READINGS,
    SYNTHETIC,
    SYNTHETIC_READINGS,
    Outcome,
    Reading,
    outcome,
    outcomes,
)
from rich.console import Console
from rich.table import Table

from fairlead.decide.jobs import JOB_METHODS
from fairlead.files.archive import write_text
from fairlead.simulation import Workload

Figure = dict[str, object]

SHORT_SCALE = 0.01
COMPUTE_MOPS = (50, 100, 200, 500, 1000, 2000)
"""Speeds of a core, which the paper does not give; the default is 100."""

PAPER_ON_REAL = {
    "Real_workload_1": ("the best other method", BASELINES, 11.0),
    "Real_workload_2": ("cyclic", ("cyclic",), "as cyclic or better"),
    "Real_workload_3": ("the best other method", BASELINES, "a little better"),
    "Real_workload_4": ("blocked", ("blocked",), "as blocked"),
}
"""Section 5.3: which methods `spread` is compared with, and the gain in percent or in words. For
workload 1 the text compares with Cyclic, which is the best other method there and not here."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--item", choices=ITEMS, help="default: all")
    parser.add_argument("--short", action="store_true", help="a hundredth of the messages")
    parser.add_argument("--figures", type=Path, help="write the figures here, as JSON")
    options = parser.parse_args()
    scale = SHORT_SCALE if options.short else 1.0
    names = list(ITEMS) if options.item is None else [options.item]
    figures = [figure for name in names for figure in ITEMS[name](scale)]
    Console(width=160).print(table(figures, scale))
    if options.figures is not None:
        write_text(options.figures, json.dumps(figures, indent=1) + "\n")


def figure(name: str, unit: str, value: float, paper: float | str | None = None) -> Figure:
    """One figure of the page: without an interval, as nothing is random."""
    bounds = {"low": None, "high": None, "samples": 1}
    return {"name": name, "unit": unit, "paper": paper, "value": value, **bounds}


def table(figures: list[Figure], scale: float) -> Table:
    """All figures for people."""
    shown = Table(title=f"SPREAD, scale {scale:g}")
    for column in ("figure", "unit", "paper", "here"):
        shown.add_column(column, justify="left" if column in ("figure", "unit") else "right")
    for each in figures:
        paper = "" if each["paper"] is None else f"{each['paper']}"
        shown.add_row(each["name"], each["unit"], paper, f"{each['value']:.4g}")
    return shown


def bars(result: Outcome, metric: str, unit: str, factor: float = 1.0) -> Iterator[Figure]:
    """A value for each method, and what `spread` and our variant save of the best other one."""
    values = result.values(metric)
    is_waiting = metric == "waiting_time_s"
    for method, value in values.items():
        label = f"{JOB_METHODS[method].letter} ({method})"
        yield figure(f"{result}: {label}", unit, value * factor)
    for method in ("spread", "spread-group"):
        gained = gain(values, method)
        if gained is not None:
            paper = PAPER_GAINS.get(result.workload) if is_waiting and method == "spread" else None
            percent = None if paper is None else round(100 * paper)
            name = f"{result}: gain of {JOB_METHODS[method].letter}"
            yield figure(name, "% less than the best of B, C, D", 100 * gained, percent)


def draw_bars(
    workloads: tuple[str, ...],
    readings: tuple[Reading, ...],
    metric: str,
    unit: str,
    factor: float = 1.0,
) -> Callable[[float], Iterator[Figure]]:
    """One of the paper's figures."""

    def run(scale: float) -> Iterator[Figure]:
        for result in outcomes(workloads, readings, scale):
            yield from bars(result, metric, unit, factor)

    return run


def headline(scale: float) -> Iterator[Figure]:
    """The least and the greatest gain over the synthetic workloads, by each reading."""
    gains: dict[Reading, list[float]] = {}
    for result in outcomes(SYNTHETIC, SYNTHETIC_READINGS, scale):
        gained = gain(result.values("waiting_time_s"))
        assert gained is not None  # each synthetic workload has messages that wait
        gains.setdefault(result.reading, []).append(100 * gained)
    for reading, values in gains.items():
        unit = "% less than the best of B, C, D"
        yield figure(f"{reading}: least gain of the four", unit, min(values), 5)
        yield figure(f"{reading}: greatest gain of the four", unit, max(values), 90)


def interface_load(scale: float) -> Iterator[Figure]:
    """What each reading asks of the busiest interface; the rates give it, however few messages."""
    for result in outcomes(SYNTHETIC, SYNTHETIC_READINGS, min(scale, SHORT_SCALE)):
        for method, load in result.interface_loads().items():
            letter = JOB_METHODS[method].letter
            name = f"{result}: busiest interface, {letter} ({method})"
            yield figure(name, "offered load / capacity", load)


def on_real(name: str) -> Callable[[float], Iterator[Figure]]:
    """What section 5.3 says of one recorded workload, at each speed of a core."""
    compared, methods, paper = PAPER_ON_REAL[name]

    def run(scale: float) -> Iterator[Figure]:
        for reading in REAL_READINGS:
            for speed in COMPUTE_MOPS if scale == 1 else (100,):
                workload = Workload.load(name, compute_Mops=speed)
                result = outcome(workload, reading, scale)
                values = result.values("waiting_time_s")
                best = min(values[method] for method in methods)
                for method in ("spread", "spread-group"):
                    letter = JOB_METHODS[method].letter
                    yield figure(
                        f"{result}, {speed} Mop/s a core: gain of {letter}",
                        f"% less than {compared}",
                        100 * (1 - values[method] / best),
                        paper if method == "spread" else None,
                    )

    return run


ITEMS: dict[str, Callable[[float], Iterator[Figure]]] = {
    "figure-2": draw_bars(SYNTHETIC, SYNTHETIC_READINGS, "waiting_time_s", "ms", 1e3),
    "figure-3": draw_bars(SYNTHETIC, SYNTHETIC_READINGS, "finish_time_s", "s"),
    "figure-4": draw_bars(SYNTHETIC, SYNTHETIC_READINGS, "total_finish_time_s", "s"),
    "figure-5": draw_bars(REAL, REAL_READINGS, "waiting_time_s", "ms", 1e3),
    "headline": headline,
    "interface-load": interface_load,
    **{f"real-{name[-1]}": on_real(name) for name in REAL},
}
"""Each item of the paper, and what computes its figures from the part of messages to simulate."""


if __name__ == "__main__":
    main()
