#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What SPREAD leaves open, swept: the gain of N in waiting time under each choice.

Negative gains are choices under which N loses to the best of B, C and D.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator

from gains import BASELINES, PAPER_GAINS, gain, show
from rich.console import Console
from rich.table import Table

from fairlead.workload import (
    JobsPlacement,
    SimulationOptions,
    Workload,
    place_jobs,
    shipped_workloads,
    simulate_each,
)
from fairlead.workload.simulating import CHOICES
from fairlead.workload.strategies.growth import GROWTH
from fairlead.workload.strategies.spread import LENGTHS, THRESHOLDS, Choices, spread_by

COMPUTE_MOPS = (50, 100, 200, 500, 1000, 2000)
SEEDS = 3


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of the sweep: what differs from the defaults."""

    name: str
    options: SimulationOptions = dataclasses.field(default_factory=SimulationOptions)
    choices: Choices = dataclasses.field(default_factory=Choices)
    rate_per: str | None = None
    compute_Mops: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="few workloads and messages")
    parser.add_argument("--scale", type=float, default=0.1, help="of the synthetic workloads")
    arguments = parser.parse_args()
    scale = 0.005 if arguments.short else arguments.scale
    names = ["Synt_workload_4", "Real_workload_4"] if arguments.short else shipped_workloads()
    console = Console(width=40 + 12 * len(names))
    console.print(
        f"scale {scale:g} of each synthetic job's messages is simulated, 1 of the others'"
    )
    table = Table(title="gain of N in waiting time, by what is chosen")
    for column in ("choice", *(name.replace("_workload", "") for name in names)):
        table.add_column(column, justify="left" if column == "choice" else "right")
    table.add_row("the paper", *(show(PAPER_GAINS.get(name)) for name in names))
    for case in cases():
        table.add_row(case.name, *(show(gain_in(name, case, scale)) for name in names))
    console.print(table)


def cases() -> Iterator[Case]:
    """The paper's figure 1, then each other choice alone."""
    yield Case("figure 1")
    for threshold in THRESHOLDS:
        for growth in GROWTH:
            choices = Choices(threshold, growth)
            if choices != Choices():
                yield Case(f"threshold {threshold}, growth {growth}", choices=choices)
    for length in LENGTHS:
        if length != Choices.length:
            yield Case(f"length {length}", choices=Choices(length=length))
    yield Case("rate per process", rate_per="process")
    for option, values in CHOICES.items():
        for value in values[1:]:
            yield Case(f"{option} {value}", SimulationOptions(**{option: value}))
    for seed in range(1, SEEDS):
        yield Case(f"poisson, seed {seed}", SimulationOptions(arrivals="poisson", seed=seed))
    for mops in COMPUTE_MOPS:
        yield Case(f"a core does {mops} Mop/s", compute_Mops=mops)


def gain_in(name: str, case: Case, scale: float) -> float | None:
    """The gain in one workload; None where nobody waits, or where the case changes nothing."""
    if case.compute_Mops is not None and not name.startswith("Real"):
        return None
    workload = Workload.load(name, rate_per=case.rate_per, compute_Mops=case.compute_Mops)
    placements = [place_jobs(workload, method) for method in BASELINES]
    cores = spread_by(workload, case.choices)
    placements.append(JobsPlacement(workload.machine, cores, "spread"))
    # Some pairs of a recording have 20 messages in all: a part of them would be another workload.
    used = scale if name.startswith("Synt") else 1.0
    results = simulate_each(workload, placements, case.options, scale=used)
    return gain({result.method: result.waiting_time_s for result in results})


if __name__ == "__main__":
    main()
