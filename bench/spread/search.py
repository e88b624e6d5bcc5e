#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far each strategy is from the best placement that a search on the simulator itself finds.

The search begins with the best strategy's placement and changes one rank at a time: to the core of
another rank, which moves the other way, or to a free one. It keeps what waits less. It is not
bound to find the best, so the distances are at least as large as printed.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from fairlead.workload import (
    STRATEGIES,
    JobsPlacement,
    Workload,
    place_jobs,
    shipped_workloads,
    simulate,
    simulate_each,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="one workload, half a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="of search for each workload")
    arguments = parser.parse_args()
    names = ["Synt_workload_4"] if arguments.short else shipped_workloads()
    seconds = 0.5 if arguments.short else arguments.seconds
    console = Console(width=110)
    table = Table(title=f"waiting time over that of the best found in {seconds:g} s of search")
    for column in ("workload", *STRATEGIES, "best found, s", "placements tried"):
        table.add_column(column, justify="left" if column == "workload" else "right")
    for name in names:
        scale = scale_of(name, is_short=arguments.short)
        workload = Workload.load(name)
        placements = [place_jobs(workload, method) for method in STRATEGIES]
        results = simulate_each(workload, placements, scale=scale)
        start = min(zip(results, placements, strict=True), key=lambda pair: pair[0].waiting_time_s)
        found, num_tried = search(workload, start[1], scale, seconds)
        best_s = simulate(workload, found, scale=scale).waiting_time_s
        ratios = [f"{result.waiting_time_s / best_s:.2f}" for result in results]
        table.add_row(f"{name}, scale {scale:g}", *ratios, f"{best_s:.4g}", str(num_tried))
    console.print(table)


def scale_of(name: str, *, is_short: bool) -> float:
    """Small enough for many tries, and the same for what is compared."""
    if is_short:
        return 0.005
    return 0.02 if name.startswith("Synt") else 1.0


def search(
    workload: Workload, start: JobsPlacement, scale: float, seconds: float
) -> tuple[JobsPlacement, int]:
    """The best placement found from `start`, and how many were tried."""
    random = np.random.default_rng(0)
    ends = np.cumsum([job.num_ranks for job in workload.jobs])[:-1]
    free = workload.machine.free_cores()
    # Ranks of all jobs, then nobody: every order of the cores is a placement.
    used = np.concatenate(start.core_of_rank)
    order = np.concatenate([used, np.setdiff1d(free, used)])
    num_ranks = len(used)

    def placed(cores: np.ndarray) -> JobsPlacement:
        return JobsPlacement(workload.machine, np.split(cores[:num_ranks], ends), "search")

    best_s = simulate(workload, start, scale=scale).waiting_time_s
    num_tried = 0
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        rank, other = int(random.integers(num_ranks)), int(random.integers(len(order)))
        if workload.machine.socket_of_core(order[rank]) == workload.machine.socket_of_core(
            order[other]
        ):
            continue  # Nothing changes between cores of a socket.
        order[[rank, other]] = order[[other, rank]]
        waits_s = simulate(workload, placed(order), scale=scale).waiting_time_s
        num_tried += 1
        if waits_s <= best_s:
            best_s = waits_s
        else:
            order[[rank, other]] = order[[other, rank]]
    return placed(order), num_tried


if __name__ == "__main__":
    main()
