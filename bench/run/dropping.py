#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often a placement is dropped, and after how many of its runs, by how slow it really is.

Times are drawn from a lognormal distribution; each decision is the one that `fairlead run` takes:
the launcher's placement has one run at the beginning, and a suspect takes turns with it.
"""

from __future__ import annotations

import argparse
import random
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from fairlead.watch import history
from fairlead.watch.history import History, RunTime

PLACED = ("a", "b")
EMPTY = History(program=("solver",), num_ranks=2, hosts=PLACED)
SPREADS = (0.05, 0.2)
RATIOS = (0.7, 0.9, 1.0, 1.1, 1.3, 1.5, 2.0)
WHEN = history.now()


class Dropped(NamedTuple):
    """What became of a placement in many series of runs.

    Attributes:
        ratio: Part of the series in which it was dropped.
        num_runs: Its runs in a series, the mean.
    """

    ratio: float
    num_runs: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="20 series instead of 400")
    parser.add_argument("--runs", type=int, default=20, help="of each series, in both placements")
    options = parser.parse_args()
    shown = Table(title=f"series of {options.runs} runs")
    for column in ("time against the launcher's", *(f"spread {one:.0%}" for one in SPREADS)):
        shown.add_column(column, justify="right")
    for ratio in RATIOS:
        found = [drop(ratio, one, 20 if options.short else 400, options.runs) for one in SPREADS]
        cells = [f"{one.ratio:.1%} dropped, {one.num_runs:.1f} runs" for one in found]
        shown.add_row(f"{ratio:.1f}", *cells)
    Console(width=100).print(shown)


def drop(ratio: float, spread: float, num_series: int, num_runs: int) -> Dropped:
    """Series on a placement that takes `ratio` of the launcher's time."""
    source = random.Random(1)
    num_dropped = num_placed = 0
    for _ in range(num_series):
        runs = [a_run(source.lognormvariate(0, spread), None)]
        for _ in range(num_runs):
            found = EMPTY.model_copy(update={"runs": tuple(runs)}).compare_placement(PLACED)
            if found.is_slower:
                num_dropped += 1
                break
            names = None if found.is_reference_next else PLACED
            time_s = source.lognormvariate(0, spread) * (1.0 if names is None else ratio)
            runs.append(a_run(time_s, names))
            num_placed += names is not None
    return Dropped(num_dropped / num_series, num_placed / num_series)


def a_run(seconds: float, names: tuple[str, ...] | None) -> RunTime:
    return RunTime(when=WHEN, folder="", method="", host_of_rank=names, seconds=seconds)


if __name__ == "__main__":
    main()
