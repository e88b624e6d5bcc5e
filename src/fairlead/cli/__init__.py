# SPDX-License-Identifier: Apache-2.0
"""The command `fairlead`: one file per command, listed here."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import version
from types import FrameType
from typing import Annotated, NoReturn

import typer

from fairlead.cli import (
    advise,
    compare,
    demo,
    lab,
    map,
    mpi,
    probe,
    report,
    run,
    show,
    simulate,
    trace,
)
from fairlead.errors import Error

app = typer.Typer(
    name="fairlead",
    help="Makes MPI applications faster on networks whose topology nobody will show you.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; errors become one line on stderr and exit code 1."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        app()
    except (Error, OSError) as error:
        print(f"fairlead: {error}", file=sys.stderr)
        sys.exit(1)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End by an exception, so that every lab, process and half-written file is cleaned up."""
    sys.exit(128 + number)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"fairlead {version('fairlead')}")
        raise typer.Exit


@app.callback()
def fairlead(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Makes MPI applications faster on networks whose topology nobody will show you."""


demo.register(app)
run.register(app)
compare.register(app)
probe.register(app)
trace.register(app)
map.register(app)
simulate.register(app)
show.register(app)
report.register(app)
advise.register(app)
lab.register(app)
mpi.register(app)
