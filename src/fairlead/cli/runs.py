# SPDX-License-Identifier: Apache-2.0
"""`fairlead runs`: what was run, where its record is, and how it ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from fairlead.cli.help import OUTPUT
from fairlead.cli.output import JsonOption, print_json, stderr, stdout
from fairlead.units import format_duration
from fairlead.watch.past_runs import PastRun, latest_run, past_runs, runs_folder

EXAMPLE = "Example: fairlead runs"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("runs", epilog=EXAMPLE)(runs)


def runs(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Where to look instead: a folder with a folder of each run."
        ),
    ] = None,
    last: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", rich_help_panel=OUTPUT, help="Most runs to list; with --json all."
        ),
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """List your runs, the latest last: their folders, times, and how they ended.

    The name of a run stands for its folder in fairlead report, advise and show, which take the
    latest by default.
    """
    found = past_runs(folder)
    if as_json:
        print_json([_facts(run) for run in found])
        return
    where = runs_folder() if folder is None else folder
    if not found:
        stderr.print(f"fairlead: {where}: no runs yet", soft_wrap=True, markup=False)
        return
    stdout.print(runs_table(found[-last:]))
    for run in found[-last:]:
        if run.problem is not None:
            stderr.print(f"fairlead: {run.problem}", soft_wrap=True, markup=False)
    older = f" ({len(found) - last} older ones: --last)" if len(found) > last else ""
    stdout.print(f"in {where}{older}", soft_wrap=True, markup=False, highlight=False)


def tell_latest(holding: Collection[str]) -> Path:
    """The folder of the latest run that has one of these files, and a line on stderr that says so.

    Raises:
        InputError: There is none.
    """
    folder = latest_run(holding)
    stderr.print(f"fairlead: the latest run: {folder}", soft_wrap=True, markup=False)
    return folder


def runs_table(found: list[PastRun]) -> Table:
    """A row for each run."""
    table = Table(box=None, pad_edge=False)
    table.add_column("run", overflow="fold")
    for name in ("ranks", "hosts"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("placement", no_wrap=True)
    for name in ("predicted", "measured"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("end")
    for run in found:
        table.add_row(
            Text(run.folder.name),
            _number(run.num_ranks),
            _number(None if run.hosts is None else len(run.hosts)),
            Text(run.placement or "-"),
            _duration(run.predicted_s),
            _duration(run.measured_s),
            _end(run),
        )
    return table


def _end(run: PastRun) -> str:
    if run.problem is not None:
        return "unreadable"
    if run.is_comparison:
        return "compared"
    if run.exit_code is None:
        return "not ended"
    return f"exit code {run.exit_code}" if run.exit_code else "done"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _duration(value_s: float | None) -> str:
    return "-" if value_s is None else format_duration(value_s)


def _facts(run: PastRun) -> dict[str, Any]:
    facts = dataclasses.asdict(run)
    return facts | {
        "folder": str(run.folder),
        "started": None if run.started is None else run.started.isoformat(),
    }
