#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waiting and finish times of all methods on SPREAD's eight workloads, rates per pair.

The gain is what N (SPREAD's figure 1), G (our variant of it) and O (`optimize`) wait less than the
best of B, C and D; the paper's is printed next to ours. The last table shows how far each is from
the best placement that any long search on the simulator found (search.py). Simulated, nothing is
measured: the same everywhere. figures.py reruns the paper's figures by each reading of its text.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import plotly.graph_objects as go
from best_known import BestKnown
from gains import PAPER_GAINS, gain, show
from plotly.subplots import make_subplots
from rich.console import Console
from rich.table import Table

from fairlead.decide.jobs import JOB_METHODS, place_jobs
from fairlead.simulation import SimulationResult, Workload, packaged_workloads, simulate_each

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

METRICS = {
    "waiting_time_s": "waiting time at interfaces and memories, s",
    "finish_time_s": "workload finish time, s",
    "total_finish_time_s": "total finish time of the jobs, s",
}

OURS = ("spread-group", "optimize")

Results = dict[str, dict[str, SimulationResult]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a hundredth of the messages")
    parser.add_argument("--workloads", nargs="+", choices=packaged_workloads(), metavar="NAME")
    parser.add_argument("--plot", type=Path, help="write a page with the bars here")
    parser.add_argument("--update", action="store_true", help="keep what beats best_known.json")
    add_tables_option(parser)
    arguments = parser.parse_args()
    scale = 0.01 if arguments.short else 1.0
    console = Console(width=120)
    console.print(f"scale {scale:g}: this part of each job's messages is simulated")
    known = BestKnown()
    names = arguments.workloads or packaged_workloads()
    results = {name: simulated(name, scale, known) for name in names}
    tables = [table(results, metric, title) for metric, title in METRICS.items()]
    for each in tables:
        console.print(each)
    write_tables(arguments.tables, *tables)
    if scale == 1:  # A part of the messages is another problem.
        console.print(distances(results))
        known.report(arguments.update)
    if arguments.plot is not None:
        plot(results, scale).write_html(arguments.plot, include_plotlyjs=True)
        console.print(f"bars: {arguments.plot}")


def simulated(name: str, scale: float, known: BestKnown) -> dict[str, SimulationResult]:
    """One workload by every method, and as it is best known."""
    workload = Workload.load(name)
    limit_s = None if scale == 1 else 0.5
    begin_s, begin_cpu_s = time.monotonic(), time.process_time()
    placements = [
        place_jobs(workload, method, scale=scale, time_limit_s=limit_s) for method in JOB_METHODS
    ]
    wall_s, cpu_s = time.monotonic() - begin_s, time.process_time() - begin_cpu_s
    print(f"{name}: placed in {wall_s:.1f} s, {cpu_s:.1f} s of the cores")
    best = known.placement(name, workload)
    results = simulate_each(workload, [*placements, *([] if best is None else [best])], scale=scale)
    by_method = {result.method: result for result in results}
    if scale == 1:
        for placement in placements:
            waiting_s = by_method[placement.method].waiting_time_s
            known.offer(name, placement, waiting_s, placement.method)
    return by_method


def table(results: Results, metric: str, title: str) -> Table:
    """A row for each workload; the paper's gain of N where it gives one."""
    shown = Table(title=title)
    for column in ("workload", *(method.letter for method in JOB_METHODS.values())):
        shown.add_column(column, justify="left" if column == "workload" else "right")
    shown.add_column("gain of N", justify="right")
    if metric == "waiting_time_s":
        shown.add_column("paper's", justify="right")
    for method in OURS:
        shown.add_column(f"of {JOB_METHODS[method].letter}", justify="right")
    for name, by_method in results.items():
        values = {method: getattr(by_method[method], metric) for method in JOB_METHODS}
        cells = [*(f"{value:.4g}" for value in values.values()), show(gain(values))]
        if metric == "waiting_time_s":
            cells.append(show(PAPER_GAINS.get(name)))
        shown.add_row(name, *cells, *(show(gain(values, method)) for method in OURS))
    return shown


def distances(results: Results) -> Table:
    """Waiting time over that of the best known, or of the best of these where that is less."""
    shown = Table(title="waiting time over that of the best known")
    columns = ("workload", *(method.letter for method in JOB_METHODS.values()), "best known, s")
    for column in columns:
        shown.add_column(column, justify="left" if column == "workload" else "right")
    for name, by_method in results.items():
        best_s = min(result.waiting_time_s for result in by_method.values())
        ratios = [f"{by_method[method].waiting_time_s / best_s:.3f}" for method in JOB_METHODS]
        shown.add_row(name, *ratios, f"{best_s:.5g}")
    return shown


def plot(results: Results, scale: float) -> go.Figure:
    """Bars for each workload, relative to the worst method of each."""
    figure = make_subplots(rows=len(METRICS), subplot_titles=list(METRICS.values()))
    for row, metric in enumerate(METRICS, start=1):
        for name, method in JOB_METHODS.items():
            heights = []
            for by_method in results.values():
                worst = max(getattr(by_method[each], metric) for each in JOB_METHODS)
                heights.append(getattr(by_method[name], metric) / worst)
            label = f"{method.letter} ({name})"
            bars = go.Bar(name=label, x=list(results), y=heights, legendgroup=name)
            figure.add_trace(bars.update(showlegend=row == 1), row=row, col=1)
    return figure.update_layout(
        title=f"SPREAD's workloads, relative to the worst method; scale {scale:g}", height=1000
    )


if __name__ == "__main__":
    main()
