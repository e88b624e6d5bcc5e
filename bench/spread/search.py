#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far each method is from the best placement that a search on the simulator itself finds.

The search begins with the best placement that is known (best_known.json), that a method makes, or
that `optimize` finds in a third of the time with a seed of its own. It changes one rank at a time:
to the core of another rank, which moves the other way, or to a free one. A change that the load
model says is much worse is not simulated; of the others it keeps what waits less in the simulation.
It is not bound to find the best, so the distances are at least as large as printed.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from best_known import BestKnown
from rich.console import Console
from rich.table import Table

from fairlead import _core
from fairlead.decide.jobs import JOB_METHODS, place_jobs
from fairlead.decide.jobs.methods.optimize import load_model
from fairlead.simulation import (
    JobsPlacement,
    SimulationOptions,
    Workload,
    packaged_workloads,
    simulate,
    simulate_each,
)

MESSAGES = 250_000
"""About as many are simulated of a synthetic workload for each try. Some pairs of a recording have
20 messages in all: a part of them would be another workload."""

WORSE_RATIO = 0.002
"""A change is simulated even if the load model predicts it to be worse by this much."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="one workload, few messages")
    parser.add_argument("--seconds", type=float, default=60.0, help="of search for each workload")
    parser.add_argument("--seed", type=int, default=0, help="of the changes that are tried")
    parser.add_argument("--workloads", nargs="+", choices=packaged_workloads(), metavar="NAME")
    parser.add_argument("--update", action="store_true", help="keep what beats best_known.json")
    arguments = parser.parse_args()
    names = arguments.workloads or packaged_workloads()
    seconds, part = arguments.seconds, 1.0
    if arguments.short:
        names, seconds, part = ["Synt_workload_4"], 0.5, 0.005
    known = BestKnown()
    console = Console(width=130)
    table = Table(title=f"waiting time over that of the best known after {seconds:g} s of search")
    for column in ("workload", *JOB_METHODS, "best known, s", "simulated"):
        table.add_column(column, justify="left" if column == "workload" else "right")
    for name in names:
        table.add_row(*row(name, part, seconds, arguments.seed, known))
    console.print(table)
    if not arguments.short:
        known.report(arguments.update)


def row(name: str, part: float, seconds: float, seed: int, known: BestKnown) -> list[str]:
    """Cells of a row: every placement simulated with all messages, or a part of them."""
    workload = Workload.load(name).scaled(part)
    placements = [place_jobs(workload, method) for method in JOB_METHODS]
    best = known.placement(name, workload)
    longer = place_jobs(workload, "optimize", seed=seed + 1, time_limit_s=seconds / 3)
    starts = [*placements, longer, *([] if best is None else [best])]
    scale = min(1.0, MESSAGES / workload.num_messages) if name.startswith("Synt") else 1.0
    results = simulate_each(workload, starts)
    nearest = min(zip(results, starts, strict=True), key=lambda pair: pair[0].waiting_time_s)
    found, num_tried = search(workload, nearest[1], scale, seconds * 2 / 3, seed)
    found_s = simulate(workload, found).waiting_time_s
    best_s = min(found_s, nearest[0].waiting_time_s)
    if part == 1:
        known.offer(name, nearest[1], nearest[0].waiting_time_s, nearest[1].method)
        known.offer(name, found, found_s, f"search, {seconds:g} s, seed {seed}")
    ratios = [f"{result.waiting_time_s / best_s:.3f}" for result in results[: len(placements)]]
    return [name, *ratios, f"{best_s:.4g}", str(num_tried)]


def search(
    workload: Workload, start: JobsPlacement, scale: float, seconds: float, seed: int
) -> tuple[JobsPlacement, int]:
    """The best placement found from `start`, and how many were simulated."""
    random = np.random.default_rng(seed)
    machine = workload.machine
    model = load_model(workload.scaled(scale), SimulationOptions())
    ends = np.cumsum([job.num_ranks for job in workload.jobs])[:-1]
    # Ranks of all jobs, then vacancies: every order of the cores is a placement.
    used = np.concatenate(start.core_of_rank)
    order = np.concatenate([used, np.setdiff1d(machine.free_cores(), used)])
    num_ranks = len(used)

    def placed() -> JobsPlacement:
        return JobsPlacement(machine, np.split(order[:num_ranks], ends), "search")

    best_s = simulate(workload, start, scale=scale).waiting_time_s
    predicted_s = _core.predicted_waiting_s(model, order[:num_ranks].copy())
    num_tried = 0
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        rank, other = int(random.integers(num_ranks)), int(random.integers(len(order)))
        if machine.socket_of_core(order[rank]) == machine.socket_of_core(order[other]):
            continue  # Nothing changes between cores of a socket.
        order[[rank, other]] = order[[other, rank]]
        then_s = _core.predicted_waiting_s(model, order[:num_ranks].copy())
        if then_s <= predicted_s * (1 + WORSE_RATIO):
            waits_s = simulate(workload, placed(), scale=scale).waiting_time_s
            num_tried += 1
            if waits_s <= best_s:
                best_s, predicted_s = waits_s, then_s
                continue
        order[[rank, other]] = order[[other, rank]]
    return placed(), num_tried


if __name__ == "__main__":
    main()
