# SPDX-License-Identifier: Apache-2.0
"""What a run decided on each lever: considered, expected, taken or not, why, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic
from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.errors import InputError
from fairlead.files.run_directory import RECORD
from fairlead.flows.run.first_collectives import tried_sentence
from fairlead.units import format_size
from fairlead.watch.past_runs import load_steps
from fairlead.watch.tried_schedules import TriedSchedule

__all__ = ["Levers", "did_sentence", "levers_of", "view"]

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
    for (name, considered, saving, taken, why), facts in zip(
        _rows(levers), levers.values(), strict=True
    ):
        what = "taken" if taken == "yes" else "not taken"
        expected = f", expected saving {saving}" if saving != "-" else ""
        judged = "" if considered == "yes" else ", not considered"
        did = f"; what it did: {sentence}" if (sentence := did_sentence(facts)) else ""
        lines.append(Text(f"{name}: {what}{judged}{expected}: {why}{did}"))
    return Group(Text(), Text("What the run decided", style="bold"), *lines)


def did_sentence(facts: Mapping[str, Any]) -> str:
    """What a lever of a first run did, for a user; empty where that is not known."""
    did = facts.get("did")
    if not isinstance(did, Mapping):
        return ""
    try:
        if "schedules" in did:
            return tried_sentence([TriedSchedule.model_validate(one) for one in did["schedules"]])
        if "relays" in did:
            return f"routers carried {format_size(int(did['relays']['routers_bytes']))}"
    except (pydantic.ValidationError, KeyError, TypeError, ValueError):
        return ""
    return ""


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
