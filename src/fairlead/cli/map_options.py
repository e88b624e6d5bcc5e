# SPDX-License-Identifier: Apache-2.0
"""What `fairlead map` alone can be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import options
from fairlead.cli.simulation_options import STRATEGIES_HELP
from fairlead.launch import FORMATS
from fairlead.mapping import METHODS
from fairlead.preparation import PROBE_NOW

_METHODS_HELP = "; ".join(f"{name} ({method.summary})" for name, method in METHODS.items())

Hosts = Annotated[str, typer.Option(help="A hostfile, or hosts and slots: h0:4,h1:4")]
NetworkSource = Annotated[
    str | None, typer.Option(help=f"A .net.npz file, or {PROBE_NOW} to measure the cluster now.")
]
TrafficFile = Annotated[Path | None, typer.Option(help="A .traffic.npz file.")]
JobFiles = Annotated[
    list[Path] | None,
    typer.Option(
        help="Instead of --network and --traffic: a .traffic.npz file of one of several jobs "
        "that run at the same time; repeatable."
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help=f"One of: {_METHODS_HELP}. Default: optimize. With --job one of: {STRATEGIES_HELP}. "
        "Default: spread."
    ),
]
Start = Annotated[
    Path | None,
    typer.Option(help="A placement (JSON) for optimize to begin from, as map -o writes it."),
]
MostMoves = Annotated[
    int | None,
    typer.Option(min=0, help="Most ranks that optimize may move away from --start."),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option(help="RANK=HOST: a rank that must be there; repeatable, for optimize."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="Where the placement goes; with --job a folder, a file per job."
    ),
]
Format = Annotated[
    str,
    typer.Option(
        parser=options.usage(options.one_of(FORMATS)),
        metavar="NAME",
        help=f"Of the output: {', '.join(FORMATS)}.",
    ),
]
CoresOfHost = Annotated[
    int | None,
    typer.Option(min=1, help="Cores of each host, for the format rankfile; else its slots."),
]
Bind = Annotated[
    bool, typer.Option("--bind", help="With --job and -o: rankfiles bind each rank to its core.")
]
