# SPDX-License-Identifier: Apache-2.0
"""`fairlead report`: one page that shows a run, to be opened in any browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.output import JsonOption, print_json, stderr
from fairlead.report import write_report

EXAMPLE = "Example: fairlead report runs/20240131-cg -o report.html"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("report", epilog=EXAMPLE)(report)


def report(
    run: Annotated[
        list[Path],
        typer.Argument(help="A run directory, or network, traffic, placement, comparison files."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path(
        "report.html"
    ),
    as_json: JsonOption = False,
) -> None:
    """Write a self-contained page of a run: heatmaps, measured times, and what they mean."""
    sections = write_report(run, output)
    if as_json:
        print_json({"report": str(output), "sections": sections})
    else:
        stderr.print(f"fairlead: {output} shows {', '.join(sections)}", soft_wrap=True)
