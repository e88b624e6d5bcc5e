# SPDX-License-Identifier: Apache-2.0
"""Options of `fairlead order` that no other command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.act.launch.order_formats import ORDER_FORMATS
from fairlead.cli import option_kinds
from fairlead.cli.help import HOSTS, NETWORK, OUTPUT, PLACING, list_names
from fairlead.cli.parsers import one_of, usage
from fairlead.units import parse_size

Pattern = Annotated[
    str,
    typer.Option(
        metavar="PATTERN",
        rich_help_panel=PLACING,
        help="What the ranks send each other: ring (an allreduce around all ranks, as NCCL's), "
        "gloo (the same the other way round, as torch's gloo), tree (an allreduce by NCCL's double "
        "binary tree), all-to-all, grid:AxB (each rank with its neighbours), or a file as of map "
        "--traffic. Ranks of a host stay together.",
    ),
]
Size = Annotated[
    int,
    option_kinds.option_of(
        parse_size, "SIZE", "Bytes that each rank contributes to one operation.", PLACING, "16MiB"
    ),
]
Spare = Annotated[
    int,
    option_kinds.whole_number(
        "Leave out so many hosts: bad ones, then those that the pattern does best without.",
        PLACING,
        least=0,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        parser=usage(one_of(ORDER_FORMATS)),
        metavar="NAME",
        rich_help_panel=OUTPUT,
        show_default="names; with --exec that of the program",
        help=f"One of{list_names(ORDER_FORMATS)}",
    ),
]
NetworkSource = Annotated[
    str | None,
    typer.Option(
        "--network",
        metavar="FILE",
        rich_help_panel=NETWORK,
        show_default="measured over TCP",
        help="A .net.npz file, or another source of fairlead map, such as oracle:URL.",
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        metavar="PROGRAM",
        rich_help_panel=HOSTS,
        show_default="that of an MPI launcher's variable, srun in a job of Slurm, or ssh",
        help="What starts a command on another host: PROGRAM HOST COMMAND.",
    ),
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[:PORT]",
        rich_help_panel=HOSTS,
        help="Wait at this address of this machine for the other hosts, which --join.",
    ),
]
Join = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[:PORT]",
        rich_help_panel=HOSTS,
        help="Where no command reaches other hosts: the command is started on each, and they meet "
        "at this host, which listens.",
    ),
]
NumHosts = Annotated[
    int | None,
    option_kinds.whole_number("With --join or --listen, instead of their names.", HOSTS),
]
Answer = Annotated[
    float,
    option_kinds.duration("Time within which all hosts must answer or join.", HOSTS, "30s"),
]
Node = Annotated[
    str | None,
    typer.Option(
        metavar="HOST",
        rich_help_panel=HOSTS,
        show_default="this machine",
        help="Whose rank --format torchrun prints.",
    ),
]
Port = Annotated[
    int,
    typer.Option(
        min=1,
        max=65535,
        metavar="N",
        rich_help_panel=OUTPUT,
        help="Port of torchrun's rendezvous on the first host.",
    ),
]
Output = Annotated[
    Path | None, option_kinds.output("File for the order, instead of standard output.")
]
SaveNetwork = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", rich_help_panel=OUTPUT, help="Also write the measured network, a .net.npz."
    ),
]
BadHosts = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Also write the names of bad hosts, one a line; the file is empty without one.",
    ),
]
FailOnBad = Annotated[
    bool,
    typer.Option(
        "--fail-on-bad",
        rich_help_panel=OUTPUT,
        help="Exit with code 3 if a host is bad; where hosts meet, if this one is.",
    ),
]
Exec = Annotated[
    bool,
    typer.Option(
        "--exec",
        rich_help_panel=OUTPUT,
        help="Then become the program, with variables that give it the order.",
    ),
]
Program = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- PROGRAM [ARGS]...]", help="With --exec: what is to run."),
]
