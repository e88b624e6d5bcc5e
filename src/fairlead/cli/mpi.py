# SPDX-License-Identifier: Apache-2.0
"""`fairlead mpi`: which MPIs Fairlead is built for, and building it for one more."""

from __future__ import annotations

from typing import Annotated

import typer

from fairlead.act import mpi_add, mpi_builds
from fairlead.cli.help import App
from fairlead.cli.output import JsonOption, print_json, print_lines, progress
from fairlead.report import mpi_view

_mpi = App(
    name="mpi",
    help="List the MPIs that Fairlead is built for, and build it for one more.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.add_typer(_mpi)


@_mpi.command("list", epilog="Example: fairlead mpi list")
def list_builds(as_json: JsonOption = False) -> None:
    """List the MPIs that Fairlead is built for."""
    builds = mpi_builds.list_builds()
    if as_json:
        print_json([mpi_view.facts(build) for build in builds])
    else:
        print_lines(mpi_view.lines(builds))


@_mpi.command(epilog="Example: fairlead mpi add --mpicxx /opt/openmpi/bin/mpicxx")
def add(
    mpicxx: Annotated[
        str,
        typer.Option("--mpicxx", metavar="PROGRAM", help="The MPI's C++ compiler wrapper."),
    ],
    as_json: JsonOption = False,
) -> None:
    """Build Fairlead's MPI side for one more MPI, in place of an earlier build for it."""
    with progress(f"building for {mpicxx}") as on_progress:
        build = mpi_add.add(mpicxx, on_progress)
    if as_json:
        print_json(mpi_view.facts(build))
    else:
        title = mpi_builds.mpi_title(build.family, build.version)
        print_lines([f"built for {title}: {build.root}"])
