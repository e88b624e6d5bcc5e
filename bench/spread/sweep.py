#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gain of N in waiting time under each choice that SPREAD leaves open.

Negative gains are choices under which N loses to the best of B, C and D.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator

from gains import BASELINES, PAPER_GAINS, gain, show
from rich.console import Console
from rich.table import Table

from fairlead.decide.jobs import place_jobs
from fairlead.decide.jobs.methods.growth import GROWTH
from fairlead.decide.jobs.methods.spread import LENGTHS, SpreadOptions, spread_by
from fairlead.decide.jobs.methods.thresholds import THRESHOLDS
from fairlead.simulation import (
    JobsPlacement,
    SimulationOptions,
    Workload,
    packaged_workloads,
    simulate_each,
)
from fairlead.simulation.run import OPTION_VALUES

SEEDS = 3


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of the sweep: what differs from the defaults."""

    name: str
    options: SimulationOptions = dataclasses.field(default_factory=SimulationOptions)
    spread: SpreadOptions = dataclasses.field(default_factory=SpreadOptions)
    rate_per: str | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="few workloads and messages")
    parser.add_argument(
        "--growth", choices=GROWTH, default="seed", help="group: all of it for spread-group"
    )
    parser.add_argument("--scale", type=float, default=0.1, help="of the synthetic workloads")
    arguments = parser.parse_args()
    scale = 0.005 if arguments.short else arguments.scale
    names = ["Synt_workload_4", "Real_workload_4"] if arguments.short else packaged_workloads()
    console = Console(width=40 + 12 * len(names))
    console.print(
        f"scale {scale:g} of each synthetic job's messages is simulated, 1 of the others'"
    )
    table = Table(title="gain of N in waiting time, by what is chosen")
    for column in ("choice", *(name.replace("_workload", "") for name in names)):
        table.add_column(column, justify="left" if column == "choice" else "right")
    table.add_row("the paper", *(show(PAPER_GAINS.get(name)) for name in names))
    for case in cases(SpreadOptions(growth=arguments.growth)):
        table.add_row(case.name, *(show(gain_in(name, case, scale)) for name in names))
    console.print(table)


def cases(base: SpreadOptions) -> Iterator[Case]:
    """SPREAD's figure 1, or our variant of it, then each other choice alone."""
    yield Case("all by default", spread=base)
    for threshold in THRESHOLDS:
        for growth in GROWTH:
            spread = dataclasses.replace(base, threshold=threshold, growth=growth)
            if spread != base:
                yield Case(f"threshold {threshold}, growth {growth}", spread=spread)
    for length in LENGTHS:
        if length != base.length:
            spread = dataclasses.replace(base, length=length)
            yield Case(f"length {length}", spread=spread)
    yield Case("rate per process", spread=base, rate_per="process")
    for option, values in OPTION_VALUES.items():
        for value in values[1:]:
            options = SimulationOptions(**{option: value})
            yield Case(f"{option} {value}", options, base)
    for seed in range(1, SEEDS):
        yield Case(f"poisson, seed {seed}", SimulationOptions(arrivals="poisson", seed=seed), base)


def gain_in(name: str, case: Case, scale: float) -> float | None:
    """The gain in one workload; None without any waiting."""
    workload = Workload.load(name, rate_per=case.rate_per)
    placements = [place_jobs(workload, method) for method in BASELINES]
    cores = spread_by(workload, case.spread)
    placements.append(JobsPlacement(workload.machine, cores, "spread"))
    # Some pairs of a recording have 20 messages in all: a part of them would be another workload.
    used = scale if name.startswith("Synt") else 1.0
    results = simulate_each(workload, placements, case.options, scale=used)
    return gain({result.method: result.waiting_time_s for result in results})


if __name__ == "__main__":
    main()
