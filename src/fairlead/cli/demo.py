# SPDX-License-Identifier: Apache-2.0
"""`fairlead demo`: an emulated cloud, before and after, and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import option_kinds, options
from fairlead.cli.help import HOSTS, OUTPUT
from fairlead.cli.output import JsonOption, print_json, require_folder, stdout, warn
from fairlead.files import run_directory
from fairlead.files.archive import replace_file
from fairlead.flows.demo import Demo, demonstrate
from fairlead.report.comparison_view import comparison_table
from fairlead.report.comparison_view import facts as comparison_facts
from fairlead.report.page import write_report

EXAMPLE = "Example: fairlead demo --scenario flat"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("demo", epilog=EXAMPLE)(demo)


def demo(
    scenario: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            rich_help_panel=HOSTS,
            help="A scenario of the emulated cloud: a name or a TOML file.",
        ),
    ] = "two-racks",
    num_ranks: Annotated[int, option_kinds.num_ranks("Ranks, a power of two.")] = 32,
    repeats: Annotated[
        int,
        option_kinds.whole_number("Runs per method.", OUTPUT),
    ] = 5,
    mpirun: options.Mpirun = None,
    output: Annotated[Path, option_kinds.output("Where the report goes.")] = Path("report.html"),
    as_json: JsonOption = False,
) -> None:
    """Place a conjugate-gradient solver by many methods in an emulated cloud, and compare.

    Starts the cloud on this machine, runs the solver, prints the table, writes a report, and takes
    the cloud down.
    """
    require_folder(output)
    folder = run_directory.make_run_folder("demo")
    comparison = demonstrate(Demo(scenario, num_ranks, repeats, mpirun), folder)
    report = folder / run_directory.REPORT
    write_report(folder, report)
    with replace_file(output, "wb") as stream:
        stream.write(report.read_bytes())
    if as_json:
        print_json({**comparison_facts(comparison), "report": str(output)})
    else:
        stdout.print(comparison_table(comparison))
        warn(f"{output} shows it")
