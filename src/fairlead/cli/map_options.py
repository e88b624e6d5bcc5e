# SPDX-License-Identifier: Apache-2.0
"""Options that only `fairlead map` has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairlead.act.launch import FORMATS
from fairlead.cli import option_kinds, parsers
from fairlead.cli.help import NETWORK, OUTPUT, PLACING, TRAFFIC
from fairlead.decide.placement import METHODS

Hosts = Annotated[str, option_kinds.cluster()]
NetworkSource = Annotated[
    str,
    option_kinds.file(
        "A .net.npz or .topo.npz file, a .toml file of racks and their costs, probe: to measure "
        "the cluster now, or oracle:URL.",
        NETWORK,
    ),
]
TrafficFile = Annotated[Path, option_kinds.file("A .traffic.npz file.", TRAFFIC)]
Method = Annotated[str, option_kinds.method(METHODS)]
RankGrid = Annotated[
    Any,  # A tuple of sizes, or None; of a tuple, typer makes an option with several words.
    option_kinds.parsed(
        parsers.grid_sizes,
        "4x4x4",
        "Grid of the ranks, the last dimension fastest as in MPI_Cart_create, for geometric.",
        PLACING,
    ),
]
Start = Annotated[
    Path | None,
    option_kinds.file("A placement (JSON, written by map -o) from which optimize begins.", PLACING),
]
MostMoves = Annotated[
    int | None,
    option_kinds.whole_number(
        "Most ranks that optimize may move away from --start.", PLACING, least=0
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
Output = Annotated[Path | None, option_kinds.output("Where the placement goes.")]
Format = Annotated[
    str, option_kinds.name(FORMATS, f"Format of the output: {', '.join(FORMATS)}.", OUTPUT)
]
CoresOfHost = Annotated[
    int | None,
    option_kinds.whole_number(
        "Cores of each host, for the format rankfile; without it as many as slots.", OUTPUT
    ),
]
