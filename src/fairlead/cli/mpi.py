# SPDX-License-Identifier: Apache-2.0
"""`fairlead mpi`: which MPIs Fairlead is built for, and building it for one more."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fairlead.act import mpi_add, mpi_builds
from fairlead.cli.help import App
from fairlead.cli.output import JsonOption, print_json, progress

_mpi = App(
    name="mpi",
    help="The MPIs that Fairlead is built for.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.add_typer(_mpi)


@_mpi.command("list", epilog="Example: fairlead mpi list")
def list_builds(json: JsonOption = False) -> None:
    """List the MPIs that Fairlead is built for."""
    builds = mpi_builds.list_builds()
    if json:
        print_json([_record(build) for build in builds])
        return
    for build in builds:
        print(f"{mpi_builds.mpi_title(build.family, build.version):18} {build.root}")
    if not builds:
        print("none; build for yours by: fairlead mpi add --mpicxx PATH")


@_mpi.command(epilog="Example: fairlead mpi add --mpicxx /opt/openmpi/bin/mpicxx")
def add(
    mpicxx: Annotated[
        str,
        typer.Option("--mpicxx", metavar="PROGRAM", help="The MPI's C++ compiler wrapper."),
    ],
    json: JsonOption = False,
) -> None:
    """Build Fairlead's MPI side for one more MPI; what was built for it before is replaced."""
    with progress(f"building for {mpicxx}") as on_progress:
        build = mpi_add.add(mpicxx, on_progress)
    if json:
        print_json(_record(build))
    else:
        print(f"built for {mpi_builds.mpi_title(build.family, build.version)}: {build.root}")


def _record(build: mpi_builds.MpiBuild) -> dict[str, Any]:
    return {
        "family": build.family,
        "version": ".".join(str(part) for part in build.version),
        "wrapper": str(build.wrapper),
        "root": str(build.root),
    }
