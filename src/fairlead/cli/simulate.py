# SPDX-License-Identifier: Apache-2.0
"""`fairlead simulate`: what jobs that share nodes would wait for, by strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.options import Seed, TimeLimit
from fairlead.cli.output import JsonOption, print_json, progress, stdout
from fairlead.cli.simulation_view import busiest, described, result_table, warn_of_overload
from fairlead.workload import (
    RATE_PER,
    STRATEGIES,
    SimulationOptions,
    Workload,
    place_jobs,
    read_jobs_placement,
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
    placement: Annotated[
        list[Path] | None,
        typer.Option(
            help="A placement of your own, shown beside the strategies': a jobs.json, as map and "
            "run write it, or a JSON list with a list of cores for each job; repeatable."
        ),
    ] = None,
    seed: Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Simulate jobs that share nodes, placed by each strategy, message by message."""
    options = SimulationOptions(nic, forwarding, arrivals, loop, seed)
    jobs = Workload.load(workload, rate_per=rate_per, compute_Mops=compute_Mops)
    given = [read_jobs_placement(path, jobs.machine) for path in placement or []]
    for one in given:
        one.require_fits(jobs)
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
    placements += given
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
