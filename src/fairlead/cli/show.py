# SPDX-License-Identifier: Apache-2.0
"""`fairlead show`: any Fairlead file in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import options
from fairlead.cli.help import OUTPUT
from fairlead.cli.output import JsonOption, print_json, print_lines, stdout
from fairlead.cli.runs import print_latest
from fairlead.flows.compare.comparison import Comparison
from fairlead.measure.traffic_files import csv_lines
from fairlead.model.network import Network
from fairlead.model.topology import Topology
from fairlead.model.traffic import Traffic
from fairlead.report import comparison_view, declared_view, levers_view
from fairlead.report.files import OUTCOMES, load_any
from fairlead.report.learned_view import describe_learned, read_learned
from fairlead.report.levers_view import levers_of
from fairlead.report.terminal import facts, view
from fairlead.watch.declared_distances import hold_against
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
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="TOPO.topo.npz",
            help="Hold a measured network against this declared topology: which hosts are declared "
            "near and measure far, or the reverse, and how likely that is chance.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a network, a topology, a traffic matrix, a placement, a comparison or placed jobs."""
    shown = print_latest(OUTCOMES) if file is None else find_run(file)
    content, levers = load_any(shown), levers_of(shown)
    if against is not None:
        if not isinstance(content, Network):
            raise typer.BadParameter("needs a measured network", param_hint="--against")
        agreement = hold_against(content, Topology.load(against))
        if as_json:
            print_json(declared_view.facts(agreement))
        else:
            stdout.print(declared_view.view(agreement))
    elif as_csv:
        if not isinstance(content, Traffic):
            raise typer.BadParameter("only a traffic is shown so", param_hint="--csv")
        for line in csv_lines(content):
            typer.echo(line)
    elif as_json:
        print_json(facts(content) | ({"levers": levers} if levers else {}) | read_learned(shown))
    elif verbose and isinstance(content, Comparison):
        stdout.print(comparison_view.view(content, stdout.width, is_verbose=True))
    else:
        stdout.print(view(content, stdout.width))
    if levers and not (as_csv or as_json or against is not None):
        stdout.print(levers_view.view(levers))
        if sentence := describe_learned(read_learned(shown)):
            print_lines([sentence])
