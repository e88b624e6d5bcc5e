# SPDX-License-Identifier: Apache-2.0
"""`fairlead import`: a topology from the reports of sites, clouds and fabrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import option_kinds
from fairlead.cli.help import list_names
from fairlead.cli.output import JsonOption, print_json, print_lines, require_folder, warn
from fairlead.cli.parsers import one_of, usage
from fairlead.measure.topologies import IMPORTS, import_topology
from fairlead.measure.topologies.catalogue import Given
from fairlead.report import topology_view

EXAMPLE = "Example: fairlead import slurm /etc/slurm/topology.conf -o site.topo.npz"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("import", epilog=EXAMPLE)(import_file)


def import_file(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            parser=usage(one_of(IMPORTS)),
            help=f"One of{list_names(IMPORTS)}",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The description to read.")],
    nodes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Which host is where, for some kinds.")
    ] = None,
    routes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The routes as the network has them, for some kinds."),
    ] = None,
    output: Annotated[
        Path | None,
        option_kinds.output("Where the topology goes: a .topo.npz file, for fairlead oracle."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read a topology from what a cloud, a scheduler, switches or a Cray Gemini report."""
    if output is not None:
        require_folder(output)
    topology = import_topology(kind, Given(file, nodes, routes))
    for problem in topology.problems:
        warn(f"{file}: {problem}")
    if output is not None:
        topology.save(output)
    if as_json:
        print_json(topology_view.facts(topology))
    else:
        print_lines(topology_view.lines(topology))
