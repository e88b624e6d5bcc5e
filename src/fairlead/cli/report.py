# SPDX-License-Identifier: Apache-2.0
"""`fairlead report`: one page that shows a run, to be opened in any browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import option_kinds
from fairlead.cli.output import JsonOption, print_json, warn
from fairlead.cli.runs import print_latest
from fairlead.report.page import write_report
from fairlead.report.run_files import RUN_FILES
from fairlead.watch.past_runs import find_run

EXAMPLE = "Example: fairlead report 20240131-120000-cg -o report.html"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("report", epilog=EXAMPLE)(report)


def report(
    run: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN|FILE",
            help="A run's folder or its name, or network, traffic, placement, comparison files; a "
            "recorded NAS benchmark, such as cg.C.32, is a traffic; without any the latest run.",
        ),
    ] = None,
    output: Annotated[Path, option_kinds.output("Where the page goes.")] = Path("report.html"),
    as_json: JsonOption = False,
) -> None:
    """Write a self-contained HTML page of a run: heatmaps, measured times, and conclusions."""
    shown = [find_run(path) for path in run] if run else [print_latest(RUN_FILES)]
    sections = write_report(shown, output)
    if as_json:
        print_json({"report": str(output), "sections": sections})
    else:
        warn(f"{output} shows {', '.join(sections)}")
