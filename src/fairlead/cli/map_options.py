# SPDX-License-Identifier: Apache-2.0
"""Options of what places ranks and writes launchers' files: `fairlead map`, `fairlead jobs map`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairlead.act.launch import FORMATS
from fairlead.cli import given_options, option_kinds, parsers
from fairlead.cli.help import NETWORK, OUTPUT, PLACING, TRAFFIC
from fairlead.decide.placement import METHODS

Hosts = Annotated[str, option_kinds.cluster()]
NetworkSource = Annotated[
    str,
    option_kinds.file(
        "A .net.npz or .topo.npz file, a .toml file of racks and their costs, probe: (measure "
        "now), tcp: (measure now without MPI), or oracle:URL (ask fairlead oracle).",
        NETWORK,
    ),
]
TrafficFile = Annotated[Path, option_kinds.file("A .traffic.npz file.", TRAFFIC)]
Method = Annotated[str, option_kinds.method(METHODS)]
RankGrid = Annotated[
    Any,  # A tuple of sizes, or None; of a tuple, typer makes an option with several words.
    option_kinds.option_of(
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
        "Maximum number of ranks that optimize may move away from --start.", PLACING, least=0
    ),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RANK=HOST",
        rich_help_panel=PLACING,
        help="Keep a rank on this host; repeatable, for optimize.",
    ),
]
Output = Annotated[Path | None, option_kinds.output("File for the placement.")]
Format = Annotated[
    str, option_kinds.name(FORMATS, f"Format of the output: {', '.join(FORMATS)}.", OUTPUT)
]
Inside = Annotated[
    bool,
    typer.Option(
        "--inside/--no-inside",
        rich_help_panel=OUTPUT,
        help="Also choose the CPUs of each rank, where the network file has the topology of the "
        "hosts.",
    ),
]
CoresOfHost = Annotated[
    int | None,
    option_kinds.whole_number("Number of cores of each host, for --format rankfile.", OUTPUT),
]

_RANKFILE = "rankfile"


def require_cores(
    context: typer.Context,
    format: str,
    cores: int | None,
    *,
    has_cores: bool = False,
    may_have_cores: bool = False,
) -> None:
    """Check that a file that names cores of a host names those there are.

    Args:
        context: The command's.
        format: A name in FORMATS.
        cores: As given by --cores.
        has_cores: The core of each rank is known without it.
        may_have_cores: Whether they are shows only later.

    Raises:
        BadParameter: The number is missing, or has no use.
    """
    if format != _RANKFILE:
        reason = f"only the format {_RANKFILE} names cores of a host"
        given_options.refuse(context, {"cores"}, reason)
    elif has_cores:
        given_options.refuse(context, {"cores"}, "has no effect: each rank has its core by --bind")
    elif cores is None and not may_have_cores:
        raise typer.BadParameter(
            "a rankfile names cores, and mpirun of Open MPI 4 fails without a message where a host "
            "has fewer: give their number by --cores N, or use --format seq, which names none",
            param_hint="--format",
        )
