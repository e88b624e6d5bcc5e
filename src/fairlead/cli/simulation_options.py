# SPDX-License-Identifier: Apache-2.0
"""What `fairlead simulate` can be asked for, each value checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fairlead.cli.options import above_zero, part_of_all
from fairlead.workload import RATE_PER, STRATEGIES, shipped_workloads
from fairlead.workload.simulating import CHOICES

STRATEGIES_HELP = "; ".join(f"{name} ({strategy.summary})" for name, strategy in STRATEGIES.items())


def one_of(words: Sequence[str], meaning: str) -> Any:
    """An option that is one of these words."""

    def parse(text: str) -> str:
        if text not in words:
            raise typer.BadParameter(f"{text!r} is none of {', '.join(words)}")
        return text

    return typer.Option(parser=parse, metavar="WORD", help=f"{meaning}: {', '.join(words)}.")


def _strategies(text: str) -> str:
    """The names with commas between; all of them for "all"."""
    names = list(STRATEGIES) if text == "all" else [name.strip() for name in text.split(",")]
    for index, name in enumerate(names):
        if name not in STRATEGIES:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(STRATEGIES)}")
        if name in names[:index]:
            raise typer.BadParameter(f"{name!r} is named twice")
    return ",".join(names)


WorkloadSource = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD.toml",
        help=f"A TOML file, or one that ships: {', '.join(shipped_workloads())}.",
    ),
]
Methods = Annotated[
    str,
    typer.Option(
        parser=_strategies,
        metavar="NAME,NAME",
        help=f"Names with commas between, or all: {STRATEGIES_HELP}.",
    ),
]
Placements = Annotated[
    list[Path] | None,
    typer.Option(
        help="A placement of your own, shown beside the strategies': a jobs.json, as map and run "
        "write it, or a JSON list with a list of cores for each job; repeatable.",
    ),
]
MachineFile = Annotated[
    Path | None, typer.Option(help="A TOML file whose [machine] stands for the workload's.")
]
Scale = Annotated[
    float,
    typer.Option(
        parser=part_of_all,
        metavar="NUMBER",
        help="Part of the messages to simulate, at the same rates.",
    ),
]
Servers = Annotated[
    int,
    typer.Option(
        min=0, help="Show load and queues of so many servers of each placement, the worst first."
    ),
]
Nic = Annotated[str, one_of(CHOICES["nic"], "Who receives at an interface")]
Forwarding = Annotated[str, one_of(CHOICES["forwarding"], "When receiving begins")]
Arrivals = Annotated[str, one_of(CHOICES["arrivals"], "When messages come")]
Loop = Annotated[str, one_of(CHOICES["loop"], "Whether a flow waits for its last message")]
RatePer = Annotated[str | None, one_of(RATE_PER, "What rate and count of a pattern are per")]
ComputeSpeed = Annotated[
    float | None,
    typer.Option(
        "--compute-mops",
        parser=above_zero,
        metavar="NUMBER",
        help="Million operations a second of a core, which set the rates of recordings.",
    ),
]
