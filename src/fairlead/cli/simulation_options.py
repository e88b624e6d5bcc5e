# SPDX-License-Identifier: Apache-2.0
"""Options of `fairlead simulate`, each checked before anything is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fairlead.cli import option_kinds, parsers
from fairlead.cli.help import MODEL, OUTPUT, PLACING, list_names
from fairlead.decide.jobs import JOB_METHODS
from fairlead.errors import InputError
from fairlead.simulation import RATE_PER, packaged_workloads
from fairlead.simulation.run import OPTION_VALUES

_WORKLOADS = "as the workload says"


def word(words: Sequence[str], meaning: str, default: str | bool = True) -> Any:
    """An option of the model that is one of these words."""
    listed_words = f"{meaning}: {', '.join(words)}."
    return option_kinds.name(words, listed_words, MODEL, default, metavar="WORD")


def _job_methods(text: str) -> str:
    """The names, separated by commas; all of them for "all"."""
    names = parsers.several_of(JOB_METHODS)(",".join(JOB_METHODS) if text == "all" else text)
    for name, number in Counter(names.split(",")).items():
        if number > 1:
            raise InputError(f"{name!r} is named twice")
    return names


WorkloadSource = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD.toml",
        help=f"A TOML file, or one of: {', '.join(packaged_workloads())}.",
    ),
]
Methods = Annotated[
    str,
    option_kinds.option_of(
        _job_methods,
        "NAME,NAME",
        f"Names, separated by commas, or all{list_names(JOB_METHODS)}",
        PLACING,
    ),
]
Placements = Annotated[
    list[Path] | None,
    option_kinds.file(
        "Your own placement, compared with those of the methods: a jobs.json, as jobs map and run "
        "write it, or a JSON list with a list of cores for each job; repeatable.",
        PLACING,
    ),
]
MachineFile = Annotated[
    Path | None, option_kinds.file("A TOML file whose [machine] replaces the workload's.", MODEL)
]
Scale = Annotated[float, option_kinds.scale("Part of the messages to simulate, at the same rates.")]
Servers = Annotated[
    int,
    option_kinds.whole_number(
        "Show load and queues of this many servers of each placement, the worst first.",
        OUTPUT,
        least=0,
    ),
]
Nic = Annotated[str, word(OPTION_VALUES["nic"], "Which server receives at an interface")]
Forwarding = Annotated[str, word(OPTION_VALUES["forwarding"], "When receiving begins")]
Arrivals = Annotated[
    str, word(OPTION_VALUES["arrivals"], "Distribution of the messages' start times")
]
Loop = Annotated[
    str, word(OPTION_VALUES["loop"], "Whether a message waits for the arrival of the previous one")
]
RatePer = Annotated[
    str | None,
    word(RATE_PER, "Whether rate and count of a pattern are per pair or per process", _WORKLOADS),
]
ComputeSpeed = Annotated[
    float | None,
    typer.Option(
        "--compute-mops",
        parser=parsers.above_zero,
        metavar="NUMBER",
        rich_help_panel=MODEL,
        show_default=_WORKLOADS,
        help="Million operations a second of a core; they determine the rates of recordings.",
    ),
]
