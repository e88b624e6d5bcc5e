#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap figure 12: a long series of runs while the network changes.

Three placements of the same program take turns: the launcher's own, Scotch's from a profile made
at the start, and Scotch's from a profile renewed before each round.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lab_compare
import paper
from rich.console import Console
from rich.table import Table

from fairlead.lab import Lab
from fairlead.statistics import mean_interval, ratio_to_baseline

SERIES = ("launcher", "profile of the start", "profile renewed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="one round")
    parser.add_argument("--minutes", type=float, default=4, help="length of the series")
    options = parser.parse_args()
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as folder, Lab.up("drift") as lab:
        end_s = time.monotonic() + 60 * options.minutes
        rounds = series(lab, Path(folder), end_s, 1 if options.short else 10_000)
    console.print(table(rounds))
    console.print(paper.beside("figure 12"))


def series(
    lab: Lab, folder: Path, end_s: float, most_rounds: int
) -> list[tuple[float, dict[str, float]]]:
    """Seconds since the start, and the program's time by each placement, round by round."""
    started_s = time.monotonic()
    traffic = folder / "cg.traffic.npz"
    first, renewed = folder / "first.net.npz", folder / "renewed.net.npz"
    fairlead(lab, "trace", "-n", "32", "--hostfile", str(lab.hostfile), "-o", str(traffic), "--",
             *lab_compare.program("cg"))  # fmt: skip
    fairlead(lab, "probe", "--hostfile", str(lab.hostfile), "-o", str(first))
    rounds = []
    while time.monotonic() < end_s and len(rounds) < most_rounds:
        fairlead(lab, "probe", "--hostfile", str(lab.hostfile), "-o", str(renewed))
        at_s = time.monotonic() - started_s
        choices = ((first, "launcher"), (first, "scotch"), (renewed, "scotch"))
        times_s = {
            name: run(lab, traffic, network, method)
            for name, (network, method) in zip(SERIES, choices, strict=True)
        }
        rounds.append((at_s, times_s))
    return rounds


def run(lab: Lab, traffic: Path, network: Path, method: str) -> float:
    """The program's own time on the placement that a method makes of a profile."""
    output = fairlead(
        lab,
        *("run", "-n", "32", "--hostfile", str(lab.hostfile), "--method", method),
        *("--network", str(network), "--traffic", str(traffic), "--"),
        *lab_compare.program("cg"),
    )
    found = re.search(lab_compare.PROGRAMS["cg"][1], output)
    assert found is not None, output
    return float(found.group(1))


def fairlead(lab: Lab, *arguments: str) -> str:
    """Run a command of Fairlead in the lab and return what it prints."""
    command = [sys.executable, "-m", "fairlead", *arguments]
    finished = lab.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return str(finished.stdout)


def table(rounds: list[tuple[float, dict[str, float]]]) -> Table:
    """A row per round, then the means and the ratios to the launcher's placement."""
    result = Table(title="cg on drift, 32 ranks: time of each run in s")
    for column in ("after", *SERIES):
        result.add_column(column, justify="right")
    for at_s, times_s in rounds:
        result.add_row(f"{at_s:.0f} s", *(f"{times_s[name]:.2f}" for name in SERIES))
    columns = {name: [times_s[name] for _at, times_s in rounds] for name in SERIES}
    result.add_section()
    means = (mean_interval(columns[name]) for name in SERIES)
    result.add_row("mean", *(f"{m.value:.2f} [{m.low:.2f}, {m.high:.2f}]" for m in means))
    ratios = (ratio_to_baseline(columns[name], columns[SERIES[0]]) for name in SERIES)
    result.add_row("x", *(f"{r.value:.2f} [{r.low:.2f}, {r.high:.2f}]" for r in ratios))
    spreads = (statistics.pstdev(columns[name]) for name in SERIES)
    result.add_row("sd", *(f"{spread:.2f}" for spread in spreads))
    return result


if __name__ == "__main__":
    main()
