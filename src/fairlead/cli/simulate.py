# SPDX-License-Identifier: Apache-2.0
"""`fairlead simulate`: what jobs that share nodes would wait for, by strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer
from rich.table import Table

from fairlead.cli.options import Seed, TimeLimit
from fairlead.cli.output import JsonOption, print_json, progress, stderr, stdout
from fairlead.units import format_duration
from fairlead.workload import (
    RATE_PER,
    STRATEGIES,
    SimulationOptions,
    SimulationResult,
    Workload,
    place_jobs,
    shipped_workloads,
    simulate_each,
)
from fairlead.workload.simulating import CHOICES

EXAMPLE = "Example: fairlead simulate Synt_workload_4 --methods all --scale 0.1"

_METHODS = "; ".join(f"{name} ({strategy.summary})" for name, strategy in STRATEGIES.items())


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("simulate", epilog=EXAMPLE)(simulate_jobs)


def _help(option: str, meaning: str) -> str:
    return f"{meaning}: {', '.join(CHOICES[option])}."


def simulate_jobs(
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD.toml",
            help=f"A TOML file, or one that ships: {', '.join(shipped_workloads())}.",
        ),
    ],
    methods: Annotated[
        str, typer.Option(help=f"Names with commas between, or all: {_METHODS}.")
    ] = "all",
    scale: Annotated[
        float, typer.Option(help="Part of the messages to simulate, at the same rates.")
    ] = 1.0,
    nic: Annotated[str, typer.Option(help=_help("nic", "Who receives"))] = "separate",
    forwarding: Annotated[
        str, typer.Option(help=_help("forwarding", "When receiving begins"))
    ] = "store_and_forward",
    arrivals: Annotated[
        str, typer.Option(help=_help("arrivals", "When messages come"))
    ] = "periodic",
    loop: Annotated[
        str, typer.Option(help=_help("loop", "Whether a flow waits for its last message"))
    ] = "open",
    rate_per: Annotated[
        str | None,
        typer.Option(help=f"What rate and count of a pattern are per: {' or '.join(RATE_PER)}."),
    ] = None,
    compute_Mops: Annotated[
        float | None,
        typer.Option("--compute-mops", help="Speed of a core, which sets the rates of recordings."),
    ] = None,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Simulate jobs that share nodes, placed by each strategy, message by message."""
    options = SimulationOptions(nic, forwarding, arrivals, loop, seed)
    jobs = Workload.load(workload, rate_per=rate_per, compute_Mops=compute_Mops)
    names = list(STRATEGIES) if methods == "all" else methods.split(",")
    with progress(f"placing {jobs.name}") as on_progress:
        placements = [
            place_jobs(
                jobs,
                name.strip(),
                seed=seed,
                options=options,
                scale=scale,
                time_limit_s=time_limit,
                on_progress=on_progress,
            )
            for name in names
        ]
    with progress(f"simulating {jobs.name}") as on_progress:
        results = simulate_each(jobs, placements, options, scale=scale, on_progress=on_progress)
    if as_json:
        print_json([result.as_dict() for result in results])
        return
    stdout.print(result_table(results))
    for line in (*map(busiest, results), described(results[0])):
        stdout.print(line, highlight=False, soft_wrap=True, markup=False)
    for result in results:
        warn_of_overload(result)


def result_table(results: list[SimulationResult]) -> Table:
    """A row for each metric, a column for each strategy."""
    table = Table("", *(result.method for result in results), box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    rows: dict[str, Callable[[SimulationResult], str]] = {
        "waiting_time_s": lambda result: format_duration(result.waiting_time_s),
        "finish_time_s": lambda result: format_duration(result.finish_time_s),
        "total_finish_time_s": lambda result: format_duration(result.total_finish_time_s),
    }
    for name, shown in rows.items():
        table.add_row(name, *(shown(result) for result in results))
    return table


def busiest(result: SimulationResult) -> str:
    """One line: where a placement's messages wait most."""
    server = max(result.servers, key=lambda server: server.waiting_time_s)
    return (
        f"{result.method}: longest waits at {server.name}, busy {server.utilisation_ratio:.0%} "
        f"of the time, up to {server.longest_queue} messages in its queue"
    )


def described(result: SimulationResult) -> str:
    """One line: what was simulated, and which part of it."""
    options = result.options
    return (
        f"{result.workload}: {result.num_messages} messages, scale {result.scale:g}; "
        f"nic {options.nic}, {options.forwarding}, arrivals {options.arrivals}, loop {options.loop}"
    )


def warn_of_overload(result: SimulationResult) -> None:
    """Say which servers are offered more than they can do; their waiting tells little else."""
    over = result.overloaded
    if over:
        stderr.print(
            f"fairlead: {result.method}: {over[0].name} is overloaded: offered "
            f"{over[0].offered_ratio:.0%} of its capacity"
            + (f", and {len(over) - 1} others" if len(over) > 1 else ""),
            soft_wrap=True,
            markup=False,
        )
