# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: all four steps, then the application."""

from __future__ import annotations

import dataclasses
import json

import typer

from fairlead.cli import options
from fairlead.cli.output import JsonOption, TerminalNarrator, stderr
from fairlead.narrator import Narrator
from fairlead.run import Decision
from fairlead.run import run as run_program

EXAMPLE = "Example: fairlead run -n 32 --hostfile hosts.txt -- ./solver input.dat"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("run", epilog=EXAMPLE)(run)


def run(
    context: typer.Context,
    program: options.Program,
    num_ranks: options.Ranks,
    hostfile: options.Hostfile = None,
    method: options.Method = "optimize",
    metric: options.MetricOption = options.Metric.bytes,
    objective: options.ObjectiveOption = None,
    mpirun: options.Mpirun = None,
    launcher_args: options.LauncherArgs = "",
    network: options.NetworkSource = None,
    traffic: options.TrafficFile = None,
    mode: options.ModeOption = options.Mode.quick,
    budget: options.Budget = None,
    contention: options.Contention = False,
    max_age: options.MaxAge = "1h",
    skip_unreachable: options.SkipUnreachable = False,
    seed: options.Seed = 0,
    run_dir: options.RunFolder = None,
    reorder: options.Reorder = True,
    as_json: JsonOption = False,
) -> None:
    """Measure the network, trace the program, map its ranks, then run it.

    The program is started by your own launcher; its output, signals and exit code pass through.
    The first time a program is run with a number of ranks, it runs once more before, traced.
    With --json the decision is one JSON line on stderr: stdout belongs to the program.
    """
    narrator = Narrator() if as_json else TerminalNarrator()

    def announce(decision: Decision) -> None:
        if as_json:
            stderr.print(json.dumps(_facts(method, decision)), soft_wrap=True, markup=False)
        narrator.tell(decision.line)

    raise typer.Exit(run_program(options.request_of(context.params), method, narrator, announce))


def _facts(method: str, decision: Decision) -> dict[str, object]:
    placement = decision.placement
    return {
        "method": method,
        "kept_launcher_placement": placement is None,
        "gain": dataclasses.asdict(decision.gain),
        "host_of_rank": None if placement is None else placement.host_names(),
    }
