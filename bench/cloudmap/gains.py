# SPDX-License-Identifier: Apache-2.0
"""CloudMap figures 6 to 11 and 13: speed of NPB under each mechanism, against the default.

In each round every mechanism has a run at the same time of the day; rounds are spread over a day.
A run's time is the replayed program's and what the mechanism takes before it.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

import mechanisms
import numpy as np
from clouds import A7, A8, G5, Cloud, Instance
from mechanisms import BASELINE, OURS, PUBLISHED
from npb_programs import CLASSES, PROGRAMS
from replay import Replayer

import fairlead as fl
from fairlead.flows.compare.statistics import mean_interval

DAY_H = 24.0
ROUNDS = 10  # "at least 10 times", section V-C.


@dataclasses.dataclass(frozen=True)
class Setting:
    """One figure of the paper.

    Attributes:
        classes: Input sizes.
        compared: Mechanisms without the default.
        paper: What its text says, by "program-class mechanism" or "program".
    """

    instance: Instance
    num_hosts: int
    classes: Sequence[str]
    compared: Sequence[str]
    paper: dict[str, float | str]

    @property
    def num_ranks(self) -> int:
        return self.num_hosts * self.instance.cores


ALL_FIVE = [name for name in PUBLISHED if name != BASELINE] + [*OURS]
NO_SIMPLE = ["RoundRobin", "CloudMap_bw", "CloudMap_lat", *OURS]
UNSUITABLE = dict.fromkeys(("ep", "ft", "is"), "none: no difference or slightly slower")
AT_64 = {**UNSUITABLE, "cg": "no benefit", "mg": "no benefit", "bt": "significant gain",
         "lu": "significant gain"}  # fmt: skip

SETTINGS = {
    "figure-6": Setting(A7, 8, ("B",), ALL_FIVE, {**AT_64, "sp": "up to 1.35"}),
    "figure-7": Setting(A7, 8, ("C",), ALL_FIVE, {**AT_64, "sp": "1.31"}),
    "figure-8": Setting(A7, 32, ("B",), ALL_FIVE, {"cg": "modest gain", "is": "modest gain"}),
    "figure-9": Setting(A7, 32, ("C",), ALL_FIVE, {}),
    "figure-10": Setting(A8, 32, CLASSES, NO_SIMPLE, {}),
    "figure-11": Setting(G5, 8, CLASSES, ALL_FIVE, {"cg-B": "up to 11"}),
    "figure-13": Setting(
        A7, 8, ("B",), ["CloudMap_bw", "intra only", "inter only"],
        {"is": "intra only avoids the profile"},
    ),
}  # fmt: skip


@dataclasses.dataclass
class Cell:
    """Times of all mechanisms with one program, by the mechanism's name, a value for each round."""

    program: str
    npb_class: str
    times_s: dict[str, list[float]]

    def speeds(self, mechanism: str, baseline: str = BASELINE) -> list[float]:
        """How many times as fast as the baseline each round was."""
        pairs = zip(self.times_s[baseline], self.times_s[mechanism], strict=True)
        return [before / after for before, after in pairs]


def measure(
    setting: Setting,
    rounds: int,
    programs: Sequence[str] = PROGRAMS,
    seed: int = 0,
    once: Collection[str] = (),
) -> list[Cell]:
    """Replays all programs of a figure, those of `once` in the first round only."""
    cloud = Cloud(setting.instance, setting.num_hosts, seed)
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        replayer = Replayer(Path(folder))
        for npb_class in setting.classes:
            for program in programs:
                cell = Cell(program, npb_class, {name: [] for name in names_of(setting)})
                for index in range(1 if program in once else rounds):
                    hour = index * DAY_H / rounds
                    add_round(cell, setting, cloud.at(hour), index, replayer)
                print(f"{program}-{npb_class} is done", file=sys.stderr, flush=True)
                cells.append(cell)
    return cells


def names_of(setting: Setting) -> list[str]:
    return [BASELINE, *setting.compared]


def add_round(
    cell: Cell, setting: Setting, network: fl.Network, run: int, replayer: Replayer
) -> None:
    """A run of each mechanism on the network of the same time of the day."""
    name = f"{cell.program}.{cell.npb_class}.{setting.num_ranks}"
    time_s_of: dict[tuple[int, ...], float] = {}
    for mechanism, times_s in cell.times_s.items():
        placement = mechanisms.place(mechanism, name, network, setting.instance.cores, run)
        # A simulation of the same placement at the same time is the same.
        key = tuple(placement.host_of_rank.tolist())
        if key not in time_s_of:
            time_s_of[key] = replayer.run_s(name, network, placement, setting.instance)
        before_s = mechanisms.overhead_s(mechanism, setting.num_hosts, setting.num_ranks)
        times_s.append(time_s_of[key] + before_s)


def figures(setting: Setting, cells: Sequence[Cell]) -> list[dict[str, object]]:
    """Speed of each mechanism against the paper's baseline, and against RoundRobin."""
    rows: list[dict[str, object]] = []
    for cell in cells:
        what = f"{cell.program}-{cell.npb_class}"
        said = setting.paper.get(what, setting.paper.get(cell.program))
        for mechanism in setting.compared:
            name, speeds = f"{what}, {mechanism}", cell.speeds(mechanism)
            is_cloudmap = mechanism.startswith("CloudMap")
            rows.append(figure(name, "x default", speeds, said if is_cloudmap else None))
            rows += deviation(name, "x default", speeds)
            if "RoundRobin" in cell.times_s and mechanism != "RoundRobin":
                speeds = cell.speeds(mechanism, "RoundRobin")
                rows.append(figure(name, "x RoundRobin", speeds, None))
        rows.append(figure(f"{what}, {BASELINE}", "s", cell.times_s[BASELINE], None))
    return rows


def figure(
    name: str, unit: str, values: Sequence[float], paper: float | str | None
) -> dict[str, object]:
    """One number with its interval; none where there is one value."""
    interval = mean_interval(values) if len(values) > 1 else None
    return {
        "name": name,
        "unit": unit,
        "paper": paper,
        "value": round(float(np.mean(values)), 4),
        "low": None if interval is None else round(float(interval.low), 4),
        "high": None if interval is None else round(float(interval.high), 4),
        "samples": len(values),
    }


def deviation(name: str, unit: str, values: Sequence[float]) -> list[dict[str, object]]:
    """The standard deviation as a number of its own, as the paper's error bars; none of one."""
    if len(values) < 2:
        return []
    return [figure(f"{name}, sd", unit, [float(np.std(values, ddof=1))], None)]


STAND_IN, STAND_IN_CLASS = "stencil", "256"
CLOUDS_OF_14 = ((A7, 32), (A8, 32), (G5, 8))


def figure_14(short: bool, rounds: int | None) -> list[dict[str, object]]:
    """Our example `stencil` in the place of BRAMS, on all three clouds.

    BRAMS's input set `light1gr` is not at hand. Like a weather model, the stand-in cuts a volume
    into columns over a plane of tasks, which exchange their borders with four neighbours.
    """
    rows: list[dict[str, object]] = []
    for instance, num_hosts in CLOUDS_OF_14[2 if short else 0 :]:
        said = "much higher" if instance is G5 else "modest"
        setting = Setting(instance, num_hosts, (STAND_IN_CLASS,), ALL_FIVE, {STAND_IN: said})
        cells = measure(setting, rounds or (1 if short else ROUNDS), (STAND_IN,))
        named = [
            {**row, "name": f"{instance.name}, {row['name']}"} for row in figures(setting, cells)
        ]
        rows += named
    return rows
