# SPDX-License-Identifier: Apache-2.0
"""Options that only `fairlead map` has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.act.launch import FORMATS
from fairlead.cli import options, parsers
from fairlead.cli.help import NETWORK, OUTPUT, PLACING, TRAFFIC, listed
from fairlead.decide.placement import METHODS

Hosts = Annotated[str, options.cluster()]
NetworkSource = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        rich_help_panel=NETWORK,
        help="A .net.npz or .topo.npz file, a .toml file of racks and their costs, probe: to "
        "measure the cluster now, or oracle:URL.",
    ),
]
TrafficFile = Annotated[
    Path,
    typer.Option(metavar="FILE", rich_help_panel=TRAFFIC, help="A .traffic.npz file."),
]
Method = Annotated[
    str,
    typer.Option(
        parser=parsers.usage(parsers.one_of(METHODS)),
        metavar="NAME",
        rich_help_panel=PLACING,
        help=f"One of{listed(METHODS)}",
    ),
]
RankGrid = Annotated[
    tuple[int, ...] | None,
    typer.Option(
        parser=parsers.usage(parsers.grid_sizes),
        metavar="4x4x4",
        rich_help_panel=PLACING,
        help="Grid of the ranks, the last dimension fastest as in MPI_Cart_create, for geometric.",
    ),
]
Start = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=PLACING,
        help="A placement (JSON, written by map -o) from which optimize begins.",
    ),
]
MostMoves = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        rich_help_panel=PLACING,
        help="Most ranks that optimize may move away from --start.",
    ),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RANK=HOST",
        rich_help_panel=PLACING,
        help="A rank that must be on this host; repeatable, for optimize.",
    ),
]
Output = Annotated[Path | None, options.output("Where the placement goes.")]
Format = Annotated[
    str,
    typer.Option(
        parser=parsers.usage(parsers.one_of(FORMATS)),
        metavar="NAME",
        rich_help_panel=OUTPUT,
        help=f"Format of the output: {', '.join(FORMATS)}.",
    ),
]
CoresOfHost = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel=OUTPUT,
        help="Cores of each host, for the format rankfile; without it as many as slots.",
    ),
]
