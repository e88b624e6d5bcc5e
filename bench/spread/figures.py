#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SPREAD figures 2 to 5: waiting and finish times of B, C, D and N on all eight workloads.

The gain is what N waits less than the best of the three others; the paper's stands beside ours.
Simulated, nothing is measured: the same everywhere.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import plotly.graph_objects as go
from gains import PAPER_GAINS, gain, show
from plotly.subplots import make_subplots
from rich.console import Console
from rich.table import Table

from fairlead.workload import (
    STRATEGIES,
    SimulationResult,
    Workload,
    place_jobs,
    shipped_workloads,
    simulate_each,
)

METRICS = {
    "waiting_time_s": "waiting time at interfaces and memories, s",
    "finish_time_s": "workload finish time, s",
    "total_finish_time_s": "total finish time of the jobs, s",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a hundredth of the messages")
    parser.add_argument("--plot", type=Path, help="write a page with the bars here")
    arguments = parser.parse_args()
    scale = 0.01 if arguments.short else 1.0
    console = Console(width=120)
    console.print(f"scale {scale:g}: this part of each job's messages is simulated")
    results = {name: simulated(name, scale) for name in shipped_workloads()}
    for metric, title in METRICS.items():
        console.print(table(results, metric, title))
    if arguments.plot is not None:
        plot(results, scale).write_html(arguments.plot, include_plotlyjs=True)
        console.print(f"bars: {arguments.plot}")


def simulated(name: str, scale: float) -> dict[str, SimulationResult]:
    """One workload by every strategy."""
    workload = Workload.load(name)
    placements = [place_jobs(workload, method) for method in STRATEGIES]
    results = simulate_each(workload, placements, scale=scale)
    return dict(zip(STRATEGIES, results, strict=True))


def table(results: dict[str, dict[str, SimulationResult]], metric: str, title: str) -> Table:
    """A row for each workload; the gain of N where the paper gives one."""
    shown = Table(title=title)
    for column in ("workload", *(STRATEGIES[method].letter for method in STRATEGIES)):
        shown.add_column(column, justify="left" if column == "workload" else "right")
    shown.add_column("gain of N", justify="right")
    if metric == "waiting_time_s":
        shown.add_column("paper", justify="right")
    for name, by_method in results.items():
        values = {method: getattr(result, metric) for method, result in by_method.items()}
        cells = [*(f"{value:.4g}" for value in values.values()), show(gain(values))]
        if metric == "waiting_time_s":
            cells.append(show(PAPER_GAINS.get(name)))
        shown.add_row(name, *cells)
    return shown


def plot(results: dict[str, dict[str, SimulationResult]], scale: float) -> go.Figure:
    """Bars for each workload, relative to the worst strategy of each."""
    figure = make_subplots(rows=len(METRICS), subplot_titles=list(METRICS.values()))
    for row, metric in enumerate(METRICS, start=1):
        for method, strategy in STRATEGIES.items():
            heights = []
            for by_method in results.values():
                worst = max(getattr(result, metric) for result in by_method.values())
                heights.append(getattr(by_method[method], metric) / worst)
            label = f"{strategy.letter} ({method})"
            bars = go.Bar(name=label, x=list(results), y=heights, legendgroup=method)
            figure.add_trace(bars.update(showlegend=row == 1), row=row, col=1)
    return figure.update_layout(
        title=f"SPREAD's workloads, relative to the worst strategy; scale {scale:g}", height=1000
    )


if __name__ == "__main__":
    main()
