# SPDX-License-Identifier: Apache-2.0
"""What a run decided on each lever: considered, expected, taken or not, and why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.errors import InputError
from fairlead.files.run_directory import RECORD
from fairlead.watch.past_runs import load_steps

__all__ = ["Levers", "levers_of", "view"]

Levers = Mapping[str, Mapping[str, Any]]


def levers_of(run: Path) -> Levers:
    """By the name of each; none where the folder has no record of a decision."""
    if not (run / RECORD).is_file():
        return {}
    try:
        levers = load_steps(run).get("decision", {}).get("levers", {})
    except InputError:
        return {}
    return levers if isinstance(levers, dict) else {}


def view(levers: Levers) -> RenderableType:
    """A line for each, for a terminal: reasons are too long for a column."""
    lines = []
    for name, considered, saving, taken, why in _rows(levers):
        what = "taken" if taken == "yes" else "not taken"
        expected = f", expected saving {saving}" if saving != "-" else ""
        judged = "" if considered == "yes" else ", not considered"
        lines.append(Text(f"{name}: {what}{judged}{expected}: {why}"))
    return Group(Text(), Text("What the run decided", style="bold"), *lines)


def _rows(levers: Levers) -> list[list[str]]:
    return [
        [
            name,
            _yes_or_no(facts.get("is_considered")),
            _gain_cell(facts),
            _yes_or_no(facts.get("is_taken")),
            str(facts.get("why", "")),
        ]
        for name, facts in levers.items()
    ]


def _yes_or_no(value: object) -> str:
    return "yes" if value else "no"


def _gain_cell(facts: Mapping[str, Any]) -> str:
    gain = facts.get("gain")
    if isinstance(gain, dict):
        return f"{gain['ratio']:.0%} [{gain['low_ratio']:.0%}, {gain['high_ratio']:.0%}]"
    share = facts.get("saved_share")
    return f"{share:.0%}" if isinstance(share, float) else "-"
