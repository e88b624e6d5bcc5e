# SPDX-License-Identifier: Apache-2.0
"""`fairlead show`: any Fairlead file in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.output import JsonOption, print_json, stdout
from fairlead.report import facts, load_any, view

EXAMPLE = "Example: fairlead show cloud.net.npz"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("show", epilog=EXAMPLE)(show)


def show(
    file: Annotated[
        Path,
        typer.Argument(
            help="A network, traffic, placement, comparison or jobs.json, or a folder with one."
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Show a network, a traffic, a placement, a comparison or several placed jobs."""
    content = load_any(file)
    if as_json:
        print_json(facts(content))
    else:
        stdout.print(view(content, stdout.width))
