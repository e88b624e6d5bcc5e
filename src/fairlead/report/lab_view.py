# SPDX-License-Identifier: Apache-2.0
"""Emulated clouds in the terminal, and as facts for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Group, RenderableType

from fairlead.lab import Lab
from fairlead.lab.checking import WrongPair
from fairlead.lab.checking_delays import WrongDelay
from fairlead.lab.delaying import DelayBy
from fairlead.lab.topology import Matrix, Topology
from fairlead.report.network_view import between_hosts
from fairlead.report.plain import plain
from fairlead.report.scales import BITS_PER_SECOND, SECONDS, Scale
from fairlead.report.terminal_heatmap import heatmap
from fairlead.units import format_bit_rate, format_duration


def facts(lab: Lab) -> dict[str, Any]:
    """Name of a lab, its hosts, and the file that lists them."""
    return {"name": lab.name, "hosts": lab.hosts, "hostfile": str(lab.hostfile)}


def facts_with_rates(lab: Lab, shaped_Bps: Matrix) -> dict[str, Any]:
    """The same with the rate of each pair; None if it is not limited."""
    return facts(lab) | {"shaped_Bps": plain(shaped_Bps)}


def facts_of_new_lab(
    lab: Lab,
    topology: Topology,
    delay_by: DelayBy,
    wrong: Sequence[WrongPair],
    wrong_delays: Sequence[WrongDelay],
) -> dict[str, Any]:
    """The same for a lab that was just started: also delays, and the pairs that are off."""
    return {
        **facts_with_rates(lab, topology.shaped_Bps()),
        "delay_s": topology.delay_s.tolist(),
        "delay_by": delay_by.value,
        "wrong_pairs": [dataclasses.asdict(pair) for pair in wrong],
        "wrong_delays": [dataclasses.asdict(pair) for pair in wrong_delays],
    }


def line(lab: Lab) -> str:
    """A lab in one line."""
    return f"{lab.name}: {len(lab.hosts)} hosts, {lab.hostfile}"


def view(lab: Lab, topology: Topology, delay_by: DelayBy, width: int) -> RenderableType:
    """Rates of all pairs, and delays where there are any, for a terminal of `width` columns."""
    charts = [_heatmap(lab, "rate", topology.shaped_Bps(), BITS_PER_SECOND, width)]
    if delay_by is not DelayBy.nothing:
        what = f"delay by {delay_by.value}"
        charts.append(_heatmap(lab, what, topology.delay_s, SECONDS, width, is_low_bright=True))
    return Group(*charts)


def problem_lines(
    lab: Lab, wrong: Sequence[WrongPair], wrong_delays: Sequence[WrongDelay]
) -> list[str]:
    """A message for each pair whose rate or delay is off."""
    lines = [
        f"lab {lab.name!r}: {pair.src} -> {pair.dst} is shaped to "
        f"{format_bit_rate(pair.shaped_Bps)}, but carries {format_bit_rate(pair.measured_Bps)}"
        for pair in wrong
    ]
    for late in wrong_delays:
        takes = "no packet arrives"
        if late.measured_s is not None:
            takes = f"a packet takes {format_duration(late.measured_s)}"
        lines.append(
            f"lab {lab.name!r}: {late.src} -> {late.dst} is delayed by "
            f"{format_duration(late.delay_s)}, but {takes}"
        )
    return lines


def _heatmap(
    lab: Lab,
    what: str,
    values: Matrix,
    family: tuple[Scale, ...],
    width: int,
    *,
    is_low_bright: bool = False,
) -> RenderableType:
    """Values of all pairs; medians of blocks if the terminal has no room for all."""
    return heatmap(
        between_hosts(values),
        lab.hosts,
        title=f"{lab.name}: {what} from row to column",
        family=family,
        reduce=np.nanmedian,
        width=width,
        is_low_bright=is_low_bright,
    )
