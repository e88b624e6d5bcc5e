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
        "binary tree), all-to-all, grid:AxB (each rank with its neighbours), or a file as for "
        "--traffic of fairlead run. Ranks of a host stay together.",
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
        "Number of hosts to leave out: bad ones first, then those without which the pattern is "
        "fastest.",
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
        show_default="that of the MPI launcher's variables, else srun in a job of Slurm, else ssh",
        help="Program that starts a command on another host, called as PROGRAM HOST COMMAND.",
    ),
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[:PORT]",
        rich_help_panel=HOSTS,
        help="Wait at this address of this machine for the other hosts, which are started with "
        "--join.",
    ),
]
Join = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[:PORT]",
        rich_help_panel=HOSTS,
        help="For hosts that no command reaches: start fairlead order on each of them with the "
        "same --join. HOST listens, the others connect to it.",
    ),
]
NumHosts = Annotated[
    int | None,
    option_kinds.whole_number(
        "Number of hosts, with --join or --listen in place of a list of hosts.", HOSTS
    ),
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
        help="Host whose rank --format torchrun prints.",
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
        help="Also write the names of bad hosts, one a line; an empty file if there is none.",
    ),
]
FailOnBad = Annotated[
    bool,
    typer.Option(
        "--fail-on-bad",
        rich_help_panel=OUTPUT,
        help="Exit with code 3 if a host is bad; with --join or --listen, only if this host is.",
    ),
]
Exec = Annotated[
    bool,
    typer.Option(
        "--exec",
        rich_help_panel=OUTPUT,
        help="Then execute the program in place of this command, with the order in its "
        "environment.",
    ),
]
Program = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- PROGRAM [ARGS]...", help="With --exec: the program and its arguments."
    ),
]
