# SPDX-License-Identifier: Apache-2.0
"""`fairlead simulate`: how long the messages of jobs on shared nodes wait, by method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from fairlead.cli import simulation_options as choices
from fairlead.cli.given_options import require_optimize
from fairlead.cli.options import Seed, TimeLimit
from fairlead.cli.output import JsonOption, print_json, print_lines, progress, stdout, warn
from fairlead.decide.jobs import place_jobs
from fairlead.report import simulation_view
from fairlead.simulation import (
    JobsPlacement,
    SimulationOptions,
    Workload,
    read_jobs_placement,
    simulate_each,
)

EXAMPLE = "Example: fairlead simulate Synt_workload_4 --methods all --scale 0.1"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("simulate", epilog=EXAMPLE)(simulate_jobs)


def simulate_jobs(
    context: typer.Context,
    workload: choices.WorkloadSource,
    methods: choices.Methods = "all",
    placement: choices.Placements = None,
    machine: choices.MachineFile = None,
    scale: choices.Scale = 1.0,
    nic: choices.Nic = "separate",
    forwarding: choices.Forwarding = "store_and_forward",
    arrivals: choices.Arrivals = "periodic",
    loop: choices.Loop = "open",
    rate_per: choices.RatePer = None,
    compute_Mops: choices.ComputeSpeed = None,
    time_limit: TimeLimit = None,
    servers: choices.Servers = 0,
    seed: Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Simulate every message of jobs that share nodes, placed by each method."""
    names = methods.split(",")
    require_optimize(context, names)
    options = SimulationOptions(nic, forwarding, arrivals, loop, seed)
    jobs = Workload.load(
        workload, rate_per=rate_per, compute_Mops=compute_Mops, machine_file=machine
    )
    given = _given(placement or [], jobs)
    with progress(f"placing {jobs.name}") as on_progress:
        placed = [
            place_jobs(
                jobs,
                name,
                seed=seed,
                options=options,
                scale=scale,
                time_limit_s=time_limit,
                on_progress=on_progress,
            )
            for name in names
        ]
    with progress(f"simulating {jobs.name}") as on_progress:
        results = simulate_each(
            jobs, [*placed, *given], options, scale=scale, on_progress=on_progress
        )
    if as_json:
        print_json(simulation_view.facts(results))
        return
    stdout.print(simulation_view.view(results, servers))
    print_lines(["", *simulation_view.lines(results)])
    for line in simulation_view.overload_lines(results):
        warn(line)


def _given(paths: Sequence[Path], jobs: Workload) -> list[JobsPlacement]:
    """The user's own placements, each of which must fit the jobs."""
    if len(set(paths)) < len(paths):
        raise typer.BadParameter("a file is named twice", param_hint="--placement")
    placements = [read_jobs_placement(path, jobs.machine) for path in paths]
    for placement in placements:
        placement.require_fits(jobs)
    return placements
