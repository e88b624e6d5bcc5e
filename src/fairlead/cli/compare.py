# SPDX-License-Identifier: Apache-2.0
"""`fairlead compare`: interleaved runs by several methods, normalised to the launcher's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import given_options, option_kinds, options, parsers
from fairlead.cli.help import OUTPUT, PLACING
from fairlead.cli.mpirun_spellings import ProgramCommand
from fairlead.cli.output import JsonOption, TerminalNarrator, print_json, stdout
from fairlead.cli.request_options import (
    HostOptions,
    LauncherOptions,
    MeasuringOptions,
    NetworkOptions,
    PlacingOptions,
)
from fairlead.decide.placement import METHODS
from fairlead.flows.compare.comparison import Comparison
from fairlead.flows.compare.flow import compare as compare_methods
from fairlead.flows.request import Request
from fairlead.report.comparison_view import comparison_table
from fairlead.report.comparison_view import facts as comparison_facts

EXAMPLE = "Example: fairlead compare -n 32 --hostfile hosts.txt --methods cyclic,scotch -- ./solver"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("compare", epilog=EXAMPLE, cls=ProgramCommand)(compare)


def compare(
    context: typer.Context,
    program: options.Program,
    *,
    num_ranks: options.Ranks = None,
    hosts: HostOptions,
    launcher: LauncherOptions,
    network: NetworkOptions,
    measuring: MeasuringOptions,
    placing: PlacingOptions,
    methods: Annotated[
        str,
        option_kinds.option_of(
            parsers.several_of(METHODS),
            "NAME,NAME",
            "Methods, separated by commas; the launcher's own is always run.",
            PLACING,
        ),
    ] = "launcher,cyclic,random,scotch,optimize",
    repeats: Annotated[
        int,
        option_kinds.whole_number("Runs per method, interleaved.", OUTPUT),
    ] = 10,
    time_pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            rich_help_panel=OUTPUT,
            help="Regular expression with a group that finds the seconds in the output.",
        ),
    ] = None,
    traffic: options.TrafficFile = None,
    budget: options.Budget = None,
    run_dir: options.RunFolder = None,
    verbose: options.Verbose = False,
    as_json: JsonOption = False,
) -> None:
    """Run a program by several methods in turns and compare the measured times.

    Times are those of the whole launcher command, or what --time-pattern finds in the output.
    """
    given_options.require_metric_used(context, methods.split(","), placing.objective)
    given_options.require_objective_used(context, methods.split(","))
    narrator = TerminalNarrator()

    def announce(comparison: Comparison, folder: Path) -> None:
        if as_json:
            print_json({**comparison_facts(comparison), "run_directory": str(folder)})
        else:
            stdout.print(comparison_table(comparison, is_verbose=verbose))
            narrator.report(f"results: {folder}; to draw them: fairlead report {folder}")

    request = Request(
        tuple(program),
        launcher=launcher.request(),
        network=measuring.request(context, network, budget),
        traffic=traffic,
        placing=placing.request(),
        directory=run_dir,
        # Last, as it may start the launcher: what is wrong with options is found before.
        **hosts.job(num_ranks, launcher, narrator, program)._asdict(),
    )
    compare_methods(
        request, methods.split(","), repeats, narrator, announce, time_pattern=time_pattern
    )
