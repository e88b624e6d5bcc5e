# SPDX-License-Identifier: Apache-2.0
"""`fairlead tune`: decide by measuring which collectives follow schedules, and write the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from fairlead.act.tuning_files import TUNING_FILES
from fairlead.cli import given_options, option_kinds, options, parsers
from fairlead.cli.help import OUTPUT, TUNING
from fairlead.cli.mpirun_spellings import SpelledCommand
from fairlead.cli.output import JsonOption, TerminalNarrator, print_json, print_lines, stdout
from fairlead.cli.parsers import several_of
from fairlead.cli.request_options import HostOptions, LauncherOptions, NetworkOptions
from fairlead.decide.collectives import OPERATIONS
from fairlead.flows.tune.flow import (
    DEFAULT_BUDGET_S,
    DEFAULT_OPERATIONS,
    DEFAULT_SIZES,
    TuneRequest,
)
from fairlead.flows.tune.flow import tune as measure
from fairlead.flows.tune.native import tune_native
from fairlead.model.collective_rule import DEFAULT_DRIFT, DriftRule
from fairlead.narrator import Narrator
from fairlead.report import tune_view
from fairlead.units import format_duration, format_size, parse_size

EXAMPLE = "Example: fairlead tune -n 32 --hostfile hosts.txt --output plan"


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted({parse_size(size) for size in text.split(",")}))


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(several_of(OPERATIONS)(text).split(",")))


Operations = Annotated[
    Any,
    option_kinds.option_of(
        _names,
        "NAMES",
        f"Operations, separated by commas: {', '.join(OPERATIONS)}.",
        TUNING,
        ",".join(DEFAULT_OPERATIONS),
    ),
]
Sizes = Annotated[
    Any,
    option_kinds.option_of(
        _sizes,
        "SIZES",
        "Message sizes, separated by commas: the whole vector of bcast, reduce and allreduce, "
        "one rank's block of the others. Each stands for those from half to twice as large.",
        TUNING,
        ",".join(format_size(size).replace(" ", "") for size in DEFAULT_SIZES),
    ),
]
Budget = Annotated[
    float,
    option_kinds.duration(
        "No further call begins after this time. One that has begun gets rounds up to twice its "
        "part of it, or 30 s if that is longer.",
        TUNING,
        format_duration(DEFAULT_BUDGET_S).replace(" ", ""),
    ),
]
Reproducible = Annotated[
    bool,
    typer.Option(
        "--reproducible",
        rich_help_panel=TUNING,
        help="Fix schedules and the order in which values are combined, for the same bits on every "
        "run: nothing is planned anew while the program runs.",
    ),
]
MaxDrift = Annotated[
    float | None,
    option_kinds.option_of(
        parsers.drift_ratio,
        "RATIO|never",
        "When collectives of the running program take so much more or less time than expected, "
        "measure the network again, and use a new schedule where it is faster.",
        TUNING,
        str(DEFAULT_DRIFT.max_ratio),
    ),
]
DriftFrom = Annotated[
    Any,
    option_kinds.name(
        ("measured", "predicted"),
        "What --max-drift expects: earlier times of the same calls, or the predicted time.",
        TUNING,
        metavar="measured|predicted",
    ),
]
PlacementFile = Annotated[
    Path | None,
    option_kinds.file(
        "Where the ranks are, a placement.json; without it as the launcher places them.", TUNING
    ),
]


Export = Annotated[
    str | None,
    option_kinds.name(
        TUNING_FILES,
        "Instead of schedules choose among the MPI's own algorithms, and write its own tuning file "
        "and a file of hosts: Open MPI's dynamic rules, or MPICH's selection.",
        OUTPUT,
        metavar="|".join(TUNING_FILES),
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("tune", epilog=EXAMPLE, cls=SpelledCommand)(tune)


def tune(
    context: typer.Context,
    *,
    num_ranks: options.Ranks = None,
    hosts: HostOptions,
    launcher: LauncherOptions,
    network: NetworkOptions,
    placement: PlacementFile = None,
    operations: Operations = DEFAULT_OPERATIONS,
    sizes: Sizes = DEFAULT_SIZES,
    budget: Budget = DEFAULT_BUDGET_S,
    reproducible: Reproducible = False,
    max_drift: MaxDrift = DEFAULT_DRIFT.max_ratio,
    drift_from: DriftFrom = "measured",
    output: Annotated[Path, option_kinds.output("Folder of the plan.", metavar="FOLDER")] = Path(
        "plan"
    ),
    export: Export = None,
    as_json: JsonOption = False,
) -> None:
    """Time collectives on your hosts with the MPI's own algorithms and with schedules of Fairlead.

    The algorithms of a call take turns. A schedule is used where it is significantly faster; all
    other calls stay the MPI's own. The plan is for fairlead run --plan, or for the preload library
    with any launcher.
    """
    if reproducible:
        given_options.refuse(
            context, {"max_drift", "drift_from"}, "does not go together with --reproducible"
        )
    if export is not None:
        reason = "does not go together with --export: schedules are left out"
        given_options.refuse(context, {"max_drift", "drift_from", "reproducible"}, reason)
    if max_drift is None:
        given_options.refuse(context, {"drift_from"}, "does not go together with --max-drift never")
    narrator = Narrator() if as_json else TerminalNarrator()
    request = TuneRequest(
        launcher=launcher.request(),
        network=network.request(),
        placement=placement,
        operations=operations,
        sizes=sizes,
        budget_s=budget,
        is_reproducible=reproducible,
        drift=None if max_drift is None else DriftRule(max_drift, drift_from),
        # Last, as it may start the launcher: what is wrong with options is found before.
        **hosts.job(num_ranks, launcher, narrator)._asdict(),
    )
    if export is not None:
        native = tune_native(request, TUNING_FILES[export], narrator)
        show(tune_view.native_facts(native), tune_view.view(native), native.write(output), as_json)
        return
    tuning = measure(request, narrator)
    tuning.write(output)
    facts = {"plan": str(output), **tune_view.facts(tuning)}
    show(facts, tune_view.view(tuning), f"written to {output}", as_json)


def show(facts: dict[str, Any], view: RenderableType, last: str, as_json: bool) -> None:
    """Print what was found, and a last line."""
    if as_json:
        print_json({**facts, "usage": last})
        return
    stdout.print(view)
    print_lines([last])
