# SPDX-License-Identifier: Apache-2.0
"""`fairlead runs`: earlier runs, with their records and exit codes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import option_kinds
from fairlead.cli.help import OUTPUT
from fairlead.cli.output import JsonOption, print_json, print_lines, stdout, warn
from fairlead.report import runs_view
from fairlead.watch.forgetting import forget_program, remove_run
from fairlead.watch.past_runs import latest_run, past_runs, runs_folder

EXAMPLE = "Example: fairlead runs"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("runs", epilog=EXAMPLE)(runs)


def runs(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="A folder with the runs' folders, instead of the default."
        ),
    ] = None,
    last: Annotated[
        int,
        option_kinds.whole_number(
            "Maximum number of runs to list; with --json all are listed.", OUTPUT
        ),
    ] = 20,
    remove: Annotated[
        list[Path] | None,
        typer.Option(metavar="RUN", help="Remove the folder of this run instead; repeatable."),
    ] = None,
    forget: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN|PROGRAM",
            help="Remove what was learned of this run's program with its arguments, ranks and "
            "hosts, or of a program altogether: times, traffic and decisions. What has proved "
            "slower may be used again.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List your runs, the latest last: their folders, times, and how they ended.

    "saves" is the expected saving of time on the network by the placement that was used.

    fairlead report, advise and show accept the name of a run for its folder; their default is the
    latest run.
    """
    if remove or forget is not None:
        _remove(remove or (), forget)
        return
    found = past_runs(folder)
    if as_json:
        print_json(runs_view.facts(found))
        return
    where = runs_folder() if folder is None else folder
    if not found:
        warn(f"{where}: no runs yet")
        return
    # Whole lines also for a pipe, which has no width: what is wider is wrapped by the terminal.
    stdout.print(runs_view.view(found[-last:], stdout.width), soft_wrap=True)
    for run in found[-last:]:
        if run.problem is not None:
            warn(run.problem)
    older = f" ({len(found) - last} older ones: --last)" if len(found) > last else ""
    print_lines([f"in {where}{older}"])


def _remove(names: Sequence[Path], forgotten: Path | None) -> None:
    # What is forgotten is found by its folder, which may be one of those to remove.
    if forgotten is not None:
        num_runs = forget_program(forgotten)
        print_lines([f"forgot the times of {num_runs} runs of the program of {forgotten.name}"])
    for name in names:
        print_lines([f"removed {remove_run(name)}"])


def print_latest(holding: Collection[str]) -> Path:
    """The folder of the latest run that has one of these files, and a line on stderr that says so.

    Raises:
        InputError: There is none.
    """
    folder = latest_run(holding)
    warn(f"the latest run: {folder}")
    return folder
