#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waiting times of the recorded jobs at several speeds of a core, which set their rates.

SPREAD does not say how fast its cores are. Printed next to the gains is the order of B, C and D; in
section 5.3 of the paper C waits less than B and D in Real 1 and 2, and more in Real 4, and there is
no significant difference in Real 3.
"""

from __future__ import annotations

import argparse

from gains import BASELINES, gain, show
from rich.console import Console
from rich.table import Table

from fairlead.decide.jobs import JOB_METHODS, place_jobs
from fairlead.simulation import Workload, packaged_workloads, simulate_each

COMPUTE_MOPS = (50, 100, 200, 500, 1000, 2000)
QUICK = ("spread", "spread-group")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="one workload, two speeds")
    parser.add_argument("--optimize", action="store_true", help="optimize too, some 5 s for each")
    arguments = parser.parse_args()
    methods = (*QUICK, *(("optimize",) if arguments.optimize else ()))
    names = [name for name in packaged_workloads() if name.startswith("Real")]
    names, speeds = (names[3:], (100, 200)) if arguments.short else (names, COMPUTE_MOPS)
    letters = [JOB_METHODS[method].letter for method in methods]
    table = Table(title="waiting time in seconds, and gains on the best of B, C and D")
    for column in ("workload", "Mop/s", *"BCD", *letters, "order", *(f"gain {n}" for n in letters)):
        table.add_column(column, justify="left" if column == "workload" else "right")
    for name in names:
        for speed in speeds:
            table.add_row(name, f"{speed}", *cells(name, speed, methods))
    Console(width=160).print(table)


def cells(name: str, compute_Mops: float, methods: tuple[str, ...]) -> list[str]:
    """Cells of one row: all messages, all else by default."""
    workload = Workload.load(name, compute_Mops=compute_Mops)
    placements = [place_jobs(workload, method) for method in (*BASELINES, *methods)]
    results = simulate_each(workload, placements)
    waiting_s = {result.method: result.waiting_time_s for result in results}
    order = " ".join(JOB_METHODS[each].letter for each in sorted(BASELINES, key=waiting_s.get))
    gains = (show(gain(waiting_s, method)) for method in methods)
    return [*(f"{value:.4g}" for value in waiting_s.values()), order, *gains]


if __name__ == "__main__":
    main()
