# SPDX-License-Identifier: Apache-2.0
"""`fairlead import`: a topology from what sites, clouds and fabrics tell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import options
from fairlead.cli.help import OUTPUT, listed
from fairlead.cli.output import JsonOption, print_json, require_folder, stderr, stdout
from fairlead.measure.topologies import IMPORTS, import_topology
from fairlead.measure.topologies.catalogue import Given

EXAMPLE = "Example: fairlead import slurm /etc/slurm/topology.conf -o site.topo.npz"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("import", epilog=EXAMPLE)(import_file)


def import_file(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            parser=options.usage(options.one_of(IMPORTS)),
            help=f"One of{listed(IMPORTS)}",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What tells the topology.")],
    nodes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Which host is where, for some kinds.")
    ] = None,
    routes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The routes as the network has them, for some kinds."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Where the topology goes: a .topo.npz file, for fairlead oracle.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read a topology from what AWS, GCP, OCI, Slurm, InfiniBand or a Cray Gemini tells of it."""
    if output is not None:
        require_folder(output)
    topology = import_topology(kind, Given(file, nodes, routes))
    for problem in topology.problems:
        stderr.print(f"fairlead: {file}: {problem}", soft_wrap=True, markup=False)
    if output is not None:
        topology.save(output)
    num_routers = len(set(topology.router_of_host))
    if as_json:
        print_json(
            {
                "hosts": list(topology.hosts),
                "router_of_host": list(topology.router_of_host),
                "num_links": topology.links.num_links,
                "routes": topology.routes.kind,
                "coordinates": None
                if topology.coordinates is None
                else topology.coordinates.tolist(),
                "problems": list(topology.problems),
                "origin": topology.origin,
            }
        )
        return
    stdout.print(
        f"{topology.num_hosts} hosts on {num_routers} routers or switches, "
        f"{topology.links.num_links} links, routes of a {topology.routes.kind}",
        highlight=False,
        soft_wrap=True,
    )
