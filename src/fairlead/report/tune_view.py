# SPDX-License-Identifier: Apache-2.0
"""What `fairlead tune` measured, in the terminal and as facts for JSON."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.act.mpi_builds import mpi_title
from fairlead.decide.collectives.choosing import Choice
from fairlead.decide.expected_gain import Gain
from fairlead.flows.tune.flow import Tuning
from fairlead.flows.tune.native import NativeTuning
from fairlead.model.collective_rule import TunedCollectives
from fairlead.report.plain import plain
from fairlead.report.terminal_table import table
from fairlead.units import format_duration, format_size


def facts(tuning: Tuning) -> dict[str, Any]:
    """Everything `view` shows, as plain values, and the rules."""
    return {
        "kind": "tuning",
        "mpi": mpi_title(tuning.launcher.family, tuning.launcher.version),
        "num_ranks": tuning.placement.num_ranks,
        "hosts": list(tuning.placement.hosts),
        "seconds": tuning.seconds,
        "num_left_out": tuning.num_left_out,
        "is_reproducible": tuning.is_reproducible,
        "calls": [_call_facts(choice) for choice in tuning.choices],
        "rules": facts_of_rules(tuning.collectives),
    }


def facts_of_rules(collectives: TunedCollectives) -> list[dict[str, Any]]:
    """The rules as plain values."""
    return [
        {**dataclasses.asdict(rule), "hosts": sorted(rule.hosts or ())}
        for rule in collectives.rules
    ]


def native_facts(tuning: NativeTuning) -> dict[str, Any]:
    """The same for a choice among the MPI's own algorithms."""
    return {
        "kind": "native tuning",
        "mpi": mpi_title(tuning.launcher.family, tuning.launcher.version),
        "num_ranks": tuning.placement.num_ranks,
        "is_reordered": tuning.is_reordered,
        "host_of_rank": tuning.placement.host_names(),
        "seconds": tuning.seconds,
        "num_left_out": tuning.num_left_out,
        "calls": [_call_facts(choice) for choice in tuning.choices],
        "rules": [rule._asdict() for rule in tuning.rules],
    }


def view(tuning: Tuning | NativeTuning) -> RenderableType:
    """The table of all calls for a terminal."""
    mpi = mpi_title(tuning.launcher.family, tuning.launcher.version)
    title = (
        f"{tuning.placement.num_ranks} ranks on {len(tuning.placement.hosts)} hosts, {mpi}: "
        f"{len(tuning.choices)} calls measured in {format_duration(tuning.seconds)}"
    )
    if isinstance(tuning, NativeTuning) and tuning.is_reordered:
        title += "; the hosts in another order"
    names = ("operation", "size", "native", "other", "method", "saves", "95 %", "used")
    shown = table(names, texts=("method", "operation"))
    ordered = sorted(tuning.choices, key=lambda one: one.kind.operation)
    for choice in ordered:
        used = "yes" if choice.is_taken else "no"
        style = "bold" if choice.is_taken else ""
        shown.add_row(*map(Text, [*_cells(choice), used]), style=style)
    return Group(Text(title, style="bold"), Text(), shown)


def _cells(choice: Choice) -> list[str]:
    saves, interval = "–", "–"
    if choice.gain is not None:
        saves, interval = f"{choice.gain.ratio:.0%}", _interval(choice.gain)
    return [
        choice.kind.operation,
        format_size(choice.kind.message_bytes),
        format_duration(choice.native_s),
        format_duration(choice.fastest_s),
        choice.name or "–",
        saves,
        interval,
    ]


def _interval(gain: Gain) -> str:
    if not math.isfinite(gain.low_ratio):
        return "slower" if gain.ratio < 0 else "unknown"
    return f"{100 * gain.low_ratio:.0f} to {gain.high_ratio:.0%}"


def _call_facts(choice: Choice) -> dict[str, Any]:
    gain = choice.gain
    return {
        **dataclasses.asdict(choice.kind),
        "hosts": sorted(choice.kind.hosts),
        "native_s": choice.native_s,
        "method": choice.name,
        "method_s": plain(choice.fastest_s),
        "gain": None
        if gain is None
        else {
            "ratio": gain.ratio,
            "low_ratio": plain(gain.low_ratio),
            "high_ratio": plain(gain.high_ratio),
        },
        "is_taken": choice.is_taken,
        "num_rounds": choice.num_rounds,
    }
