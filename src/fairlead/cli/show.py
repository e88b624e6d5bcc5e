# SPDX-License-Identifier: Apache-2.0
"""`fairlead show`: any Fairlead file in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import options
from fairlead.cli.help import OUTPUT
from fairlead.cli.output import JsonOption, print_json, stdout
from fairlead.cli.runs import tell_latest
from fairlead.flows.compare.comparison import Comparison
from fairlead.measure.traffic_files import csv_lines
from fairlead.model.traffic import Traffic
from fairlead.report import comparison_view, facts, load_any, view
from fairlead.report.files import OUTCOMES
from fairlead.watch.past_runs import find_run

EXAMPLE = "Example: fairlead show cloud.net.npz"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("show", epilog=EXAMPLE)(show)


def show(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE|RUN",
            help="A network, topology, traffic, placement, comparison, history or jobs.json; a "
            "recorded NAS benchmark, such as cg.C.32; or a run's folder or its name, for its "
            "results; without it the latest run.",
        ),
    ] = None,
    verbose: options.Verbose = False,
    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv", rich_help_panel=OUTPUT, help="Print a traffic as comma-separated values."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a network, a topology, a traffic, a placement, a comparison or several placed jobs."""
    content = load_any(tell_latest(OUTCOMES) if file is None else find_run(file))
    if as_csv:
        if not isinstance(content, Traffic):
            raise typer.BadParameter("only a traffic is shown so", param_hint="--csv")
        for line in csv_lines(content):
            typer.echo(line)
    elif as_json:
        print_json(facts(content))
    elif verbose and isinstance(content, Comparison):
        stdout.print(comparison_view.view(content, stdout.width, is_verbose=True))
    else:
        stdout.print(view(content, stdout.width))
