# SPDX-License-Identifier: Apache-2.0
"""The user's runs in the terminal, and as facts for JSON."""

from __future__ import annotations

import dataclasses
import shlex
import textwrap
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.units import format_duration
from fairlead.user_signals import signal_name
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


def view(runs: Sequence[PastRun], width: int) -> RenderableType:
    """Two lines for each run: its name and figures, then the program with its arguments.

    Args:
        runs: The runs.
        width: Columns of the terminal; the figures fit 80, and longer programs are wrapped.
    """
    size = max((len(run.folder.name) for run in runs), default=0)
    names = ("ranks", "hosts", "placement", "expected", "saves", "took", "end")
    shown = [Text(f"{'run':<{size}} {_columns(names)}", style="bold")]
    for run in runs:
        cells = (
            _number(run.num_ranks),
            _number(None if run.hosts is None else len(run.hosts)),
            run.placement or "-",
            _duration(run.predicted_s),
            "-" if run.saving_ratio is None else f"{run.saving_ratio:.0%}",
            _duration(run.measured_s),
            f"{_end(run)}{_other_levers(run)}{_guess(run)}",
        )
        shown.append(Text(f"{run.folder.name:<{size}} {_columns(cells)}"))
        if run.program:
            shown.append(Text(_indent(run.program, width), style="dim"))
    return Group(*shown)


def _columns(cells: Sequence[str]) -> str:
    ranks, hosts, placement, expected, saves, took, end = cells
    return f"{ranks:>5} {hosts:>5} {placement:<9} {expected:>8} {saves:>5} {took:>7} {end}"


def _indent(program: Sequence[str], width: int) -> str:
    """The program without its folder, and all of its arguments, below the name of the run."""
    name = program[0].rpartition("/")[2]
    line = shlex.join([name, *program[1:]])
    return textwrap.fill(line, max(width, 40), initial_indent="    ", subsequent_indent="      ")


def _other_levers(run: PastRun) -> str:
    """What was taken in addition to the placement; reordered topologies are part of that."""
    taken = [
        name
        for name, facts in run.levers.items()
        if name not in ("placement", "reorder") and facts.get("is_taken")
    ]
    return f", with {' and '.join(taken)}" if taken else ""


def _guess(run: PastRun) -> str:
    if run.guessed_from is None:
        return ""
    return ", guess" if run.difference is None else f", guess off by {run.difference:.0%}"


def _end(run: PastRun) -> str:
    if run.problem is not None:
        return "unreadable"
    if run.is_comparison:
        return "compared"
    if run.is_dry:
        return "dry run"
    if run.exit_code is None:
        return "not ended"
    if run.signal is not None:  # Hydra's own exit code is 0 after SIGTERM.
        return signal_name(run.signal)
    end = f"exit code {run.exit_code}" if run.exit_code else "done"
    return f"{end}, plan stale" if is_stale(run.folder) else end


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _duration(value_s: float | None) -> str:
    return "-" if value_s is None else format_duration(value_s)
