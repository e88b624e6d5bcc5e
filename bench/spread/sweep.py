#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gain of `spread` in waiting time under each other reading of SPREAD's text.

Negative gains are readings under which it loses to the best of B, C and D.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator

from gains import BASELINES, PAPER_GAINS, gain, show
from rich.console import Console
from rich.table import Table
from turns import ORDERS, with_turns

from fairlead.decide.jobs import place_jobs
from fairlead.decide.jobs.methods.growth import GROWTH
from fairlead.decide.jobs.methods.spread import (
    DEMANDS,
    FIGURE_1,
    GROUP,
    LENGTHS,
    OVERFLOWS,
    SpreadOptions,
    spread_by,
)
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
METHODS = {"spread": FIGURE_1, "spread-group": GROUP}
CHOICES = {
    "threshold": THRESHOLDS,
    "growth": GROWTH,
    "demand": DEMANDS,
    "overflow": OVERFLOWS,
    "length": LENGTHS,
}
"""Options of the strategy, and the values of each."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of the sweep: what differs from the defaults."""

    name: str
    options: SimulationOptions = dataclasses.field(default_factory=SimulationOptions)
    spread: SpreadOptions = dataclasses.field(default_factory=SpreadOptions)
    rate_per: str | None = None
    order: str | None = None
    """Order of an all-to-all's receivers, where rates are per process; None: ascending."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="few workloads and messages")
    parser.add_argument("--method", choices=METHODS, default="spread")
    parser.add_argument("--scale", type=float, default=0.1, help="of the synthetic workloads")
    arguments = parser.parse_args()
    scale = 0.005 if arguments.short else arguments.scale
    names = ["Synt_workload_4", "Real_workload_4"] if arguments.short else packaged_workloads()
    console = Console(width=40 + 12 * len(names))
    console.print(
        f"scale {scale:g} of each synthetic job's messages is simulated, 1 of the others'"
    )
    table = Table(title=f"gain of {arguments.method} in waiting time, by what is chosen")
    for column in ("choice", *(name.replace("_workload", "") for name in names)):
        table.add_column(column, justify="left" if column == "choice" else "right")
    table.add_row("the paper", *(show(PAPER_GAINS.get(name)) for name in names))
    for case in cases(METHODS[arguments.method]):
        table.add_row(case.name, *(show(gain_in(name, case, scale)) for name in names))
    console.print(table)


def cases(base: SpreadOptions) -> Iterator[Case]:
    """SPREAD's figure 1, or our variant of it, then each other choice alone."""
    yield Case("all by default", spread=base)
    for option, values in CHOICES.items():
        for value in values:
            spread = dataclasses.replace(base, **{option: value})
            if spread != base:
                yield Case(f"{option} {value}", spread=spread)
    another = dataclasses.replace(FIGURE_1, demand="both", overflow="own_turn")
    yield Case("demand both, overflow own_turn", spread=another)
    yield Case("rate per process", spread=base, rate_per="process")
    for order in ORDERS:
        name = f"rate per process, {order}"
        yield Case(name, spread=base, rate_per="process", order=order)
    for nic in OPTION_VALUES["nic"][1:]:
        options = SimulationOptions(nic=nic)
        yield Case(f"rate per process, nic {nic}", options, base, rate_per="process")
    for option, values in OPTION_VALUES.items():
        for value in values[1:]:
            options = SimulationOptions(**{option: value})
            yield Case(f"{option} {value}", options, base)
    for seed in range(1, SEEDS):
        yield Case(f"poisson, seed {seed}", SimulationOptions(arrivals="poisson", seed=seed), base)


def gain_in(name: str, case: Case, scale: float) -> float | None:
    """The gain in one workload; None without any waiting."""
    workload = Workload.load(name, rate_per=case.rate_per)
    if case.order is not None:
        workload = with_turns(workload, case.order)
    placements = [place_jobs(workload, method) for method in BASELINES]
    cores = spread_by(workload, case.spread)
    placements.append(JobsPlacement(workload.machine, cores, "spread"))
    # Some pairs of a recording have 20 messages in all: a part of them would be another workload.
    used = scale if name.startswith("Synt") else 1.0
    results = simulate_each(workload, placements, case.options, scale=used)
    return gain({result.method: result.waiting_time_s for result in results})


if __name__ == "__main__":
    main()
