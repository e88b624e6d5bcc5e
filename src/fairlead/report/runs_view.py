# SPDX-License-Identifier: Apache-2.0
"""The user's runs in the terminal, and as facts for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from fairlead.report.terminal_table import table
from fairlead.units import format_duration
from fairlead.watch.past_runs import PastRun
from fairlead.watch.stale import is_stale


def facts(runs: Sequence[PastRun]) -> list[dict[str, Any]]:
    """Each run by its fields, JSON-serialisable."""
    return [
        dataclasses.asdict(run)
        | {
            "folder": str(run.folder),
            "started": None if run.started is None else run.started.isoformat(),
        }
        for run in runs
    ]


def view(runs: Sequence[PastRun]) -> Table:
    """A row for each run."""
    names = ("run", "ranks", "hosts", "placement", "predicted", "measured", "end")
    shown = table(names, texts=("run", "placement", "end"))
    for run in runs:
        shown.add_row(
            Text(run.folder.name),
            _number(run.num_ranks),
            _number(None if run.hosts is None else len(run.hosts)),
            Text(run.placement or "-"),
            _duration(run.predicted_s),
            _duration(run.measured_s),
            _end(run),
        )
    return shown


def _end(run: PastRun) -> str:
    if run.problem is not None:
        return "unreadable"
    if run.is_comparison:
        return "compared"
    if run.is_dry:
        return "dry run"
    if run.exit_code is None:
        return "not ended"
    end = f"exit code {run.exit_code}" if run.exit_code else "done"
    return f"{end}, plan stale" if is_stale(run.folder) else end


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _duration(value_s: float | None) -> str:
    return "-" if value_s is None else format_duration(value_s)
