# SPDX-License-Identifier: Apache-2.0
"""CloudMap figure 12: cg, class C, on 32 A8 instances again and again for two days."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from clouds import A8, DAYS_H, Cloud
from gains import Cell, Setting, add_round, figure
from mechanisms import BASELINE, OURS
from replay import Replayer

COMPARED = ("CloudMap_bw", "CloudMap_lat", *OURS)
ROUNDS, SHORT_ROUNDS = 200, 1
"""Rounds of the default and both CloudMaps are about 600 runs; ours has as many more."""

SETTING = Setting(A8, 32, ("C",), COMPARED, {})


def figure_12(short: bool, rounds: int | None) -> list[dict[str, object]]:
    """Times over two days: means, how steady they are, and the gains of each quarter."""
    rounds = rounds or (SHORT_ROUNDS if short else ROUNDS)
    cell = Cell("cg", "C", {name: [] for name in (BASELINE, *COMPARED)})
    cloud = Cloud(A8, 32)
    with tempfile.TemporaryDirectory() as folder:
        replayer = Replayer(Path(folder))
        for index in range(rounds):
            add_round(cell, SETTING, cloud.at(DAYS_H * index / rounds), index, replayer)
            if index % 20 == 0:
                print(f"{index} of {rounds} rounds", file=sys.stderr, flush=True)
    return rows(cell)


def rows(cell: Cell) -> list[dict[str, object]]:
    """The numbers that the text of section VI-B speaks of."""
    found = []
    for name, times_s in cell.times_s.items():
        found.append(figure(f"{name}, time of a run", "s", times_s, None))
        spread = float(np.std(times_s) / np.mean(times_s))
        said = "very stable" if name == BASELINE else None
        found.append(figure(f"{name}, sd / mean", "ratio", [spread], said))
    for name in COMPARED:
        said = "highest gains" if name == "CloudMap_bw" else None
        found.append(figure(f"{name}, speed", "x default", cell.speeds(name), said))
    quarters = np.array_split(np.array(cell.speeds("CloudMap_bw")), 4)
    for index, speeds in enumerate(quarters):
        if len(speeds):
            name = f"CloudMap_bw, speed in quarter {index + 1}"
            found.append(figure(name, "x default", speeds.tolist(), "stable over two days"))
    faster = np.array(cell.times_s["CloudMap_lat"]) <= np.array(cell.times_s["CloudMap_bw"])
    found.append(
        figure(
            "share of rounds in which CloudMap_lat is as fast as CloudMap_bw", "ratio",
            [float(faster.mean())], "some cases",
        )
    )  # fmt: skip
    return found
