#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap figures 1 to 3: how the network between hosts varies from pair to pair and over time.

Figure 1: latency and bandwidth of some pairs over time. Figure 2: heatmaps of all pairs at three
times. Figure 3: the spread over all pairs, hour by hour of a day. By default of the changing cloud
that drift.py simulates; with `--lab`, as `fairlead probe` measures the scenario `drift`, where a
minute stands for an hour.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import changing
import numpy as np
import numpy.typing as npt
import paper
from changing import Moment
from programs import probed
from rich.console import Console, Group
from rich.table import Table

from fairlead.lab import Lab, Scenario
from fairlead.report.scales import BYTES_PER_SECOND, SECONDS, Scale, common_scale
from fairlead.report.terminal_heatmap import heatmap

PAIRS = ((0, 1), (1, 0), (2, 5), (6, 3))
BARS = "▁▂▃▄▅▆▇█"
BOX_COLUMNS = 60
LAB_HOUR_S = 60.0


class Quantity(NamedTuple):
    """One of the two things that are measured of a pair.

    Attributes:
        values: At each moment, shape (M, H, H).
        family: Units to choose from.
    """

    name: str
    values: npt.NDArray[np.float64]
    family: tuple[Scale, ...]
    is_low_bright: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="six hours")
    parser.add_argument("--lab", action="store_true", help="measure the scenario drift")
    parser.add_argument("--hours", type=int, help="default: 24; of the lab, a minute each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    hours = options.hours or (6 if options.short else 24)
    source = in_lab(hours) if options.lab else changing.two_days(1.0, options.seed, hours)
    moments = list(source)
    networks = [moment.network for moment in moments]
    console = Console(width=120)
    for quantity in (
        Quantity("latency", np.array([one.latency_s for one in networks]), SECONDS, True),
        Quantity(
            "bandwidth", np.array([one.bandwidth_Bps for one in networks]), BYTES_PER_SECOND, False
        ),
    ):
        console.print(over_time(moments, quantity))
        for index in (0, len(moments) // 2, len(moments) - 1):
            console.print(at_one_time(moments[index], quantity, index))
        console.print(over_the_day(moments, quantity))
    console.print(paper.beside("figures 1 to 3"))


def in_lab(hours: int) -> Iterator[Moment]:
    """What `fairlead probe` measures once a minute, while every pair is drawn anew at times."""
    fields = Scenario.load("drift").model_dump()
    fields["changes"] += [
        {"at_s": LAB_HOUR_S * hour, "seed": 100 + hour} for hour in range(4, hours + 1, 4)
    ]
    with Lab.up(Scenario.model_validate(fields)) as lab, tempfile.TemporaryDirectory() as folder:
        started_s = time.monotonic()
        for hour in range(hours + 1):
            time.sleep(max(0.0, started_s + hour * LAB_HOUR_S - time.monotonic()))
            yield Moment(hour, probed(lab, Path(folder) / f"{hour}.net.npz"))


def over_time(moments: list[Moment], quantity: Quantity) -> Table:
    """Figure 1: a line for each of some pairs, from its least to its most."""
    table = Table(title=f"Figure 1: {quantity.name} of four pairs over {moments[-1].hour:.0f} h")
    for column in ("pair", "over time", "least", "median", "most"):
        table.add_column(column, justify="left" if column in {"pair", "over time"} else "right")
    hosts = moments[0].network.hosts
    for src, dst in PAIRS:
        values = quantity.values[:, src, dst]
        position = (values - values.min()) / max(np.ptp(values), 1e-300)
        line = "".join(BARS[round(part * (len(BARS) - 1))] for part in position)
        scale = common_scale(values, quantity.family)
        shown = (
            scale.with_unit(value) for value in (values.min(), np.median(values), values.max())
        )
        table.add_row(f"{hosts[src]} to {hosts[dst]}", line, *shown)
    return table


def at_one_time(moment: Moment, quantity: Quantity, index: int) -> Group:
    """Figure 2: all pairs at the same time."""
    between = quantity.values[index].copy()
    np.fill_diagonal(between, np.nan)
    return heatmap(
        between,
        list(moment.network.hosts),
        title=f"Figure 2: {quantity.name} after {moment.hour:.0f} h",
        family=quantity.family,
        reduce=np.nanmedian,
        width=120,
        is_low_bright=quantity.is_low_bright,
    )


def over_the_day(moments: list[Moment], quantity: Quantity) -> Table:
    """Figure 3: least, quartiles and most of all pairs, a box plot for each hour."""
    between = ~np.eye(quantity.values.shape[1], dtype=bool)
    values = quantity.values[:, between]
    low, high = np.log(np.nanmin(values)), np.log(np.nanmax(values))
    scale = common_scale(values, quantity.family)
    table = Table(
        title=f"Figure 3: {quantity.name} of all pairs, {scale.text(np.nanmin(values))} to "
        f"{scale.with_unit(np.nanmax(values))}, logarithmic"
    )
    for column in ("after", "box plot", "median"):
        table.add_column(column, justify="left" if column == "box plot" else "right", no_wrap=True)
    for moment, of_pairs in zip(moments, values, strict=True):
        five = np.nanquantile(of_pairs, [0, 0.25, 0.5, 0.75, 1])
        ends = np.round((np.log(five) - low) / (high - low) * (BOX_COLUMNS - 1)).astype(int)
        table.add_row(f"{moment.hour:.0f} h", box(*ends.tolist()), scale.with_unit(five[2]))
    return table


def box(least: int, low: int, middle: int, high: int, most: int) -> str:
    """A box plot in characters: whiskers, the middle half, the median."""
    drawn = [" "] * BOX_COLUMNS
    drawn[least : most + 1] = "─" * (most + 1 - least)
    drawn[low : high + 1] = "█" * (high + 1 - low)
    drawn[middle] = "┃"
    return "".join(drawn)


if __name__ == "__main__":
    main()
