#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap figures 6 to 11, 13 and 15, measured: examples by each method in the emulated cloud.

Runs are interleaved; times are the programs' own, relative to the launcher's placement, with 95 %
intervals. scotch-intra and scotch-inter are figure 13; bytes between hosts and communication time
are figure 15.
"""

from __future__ import annotations

import argparse

import lab_compare
import paper
from rich.console import Console
from rich.table import Table

from fairlead.comparison import Comparison
from fairlead.lab import Lab
from fairlead.mapping import METHODS
from fairlead.report.comparison_view import PREDICTIONS
from fairlead.units import format_size

SCENARIOS = ["two-racks", "pairwise", "flat"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="cg on two-racks, two methods, 3 runs")
    parser.add_argument("--scenario", action="append", help="instead of all three; repeatable")
    parser.add_argument("--program", action="append", choices=lab_compare.PROGRAMS)
    parser.add_argument("--repeats", type=int, default=10, help="runs per method")
    parser.add_argument(
        "--method", action="append", choices=METHODS, help="beside the launcher's; repeatable"
    )
    parser.add_argument("--contention", action="store_true", help="measure shared bottlenecks too")
    options = parser.parse_args()
    others = options.method or (["scotch"] if options.short else METHODS)
    methods = ["launcher", *(method for method in others if method != "launcher")]
    more = ["--contention"] if options.contention else []
    repeats = 3 if options.short else options.repeats
    scenarios = options.scenario or (["two-racks"] if options.short else SCENARIOS)
    programs = options.program or (["cg"] if options.short else list(lab_compare.PROGRAMS))
    console = Console(width=140)
    for scenario in scenarios:
        with Lab.up(scenario) as lab:
            for program in programs:
                comparison = lab_compare.compare(lab, program, methods, repeats, more)
                console.print(table(f"{program} on {scenario}, 32 ranks", comparison))
                for prediction in PREDICTIONS:
                    console.print(comparison.agreement(prediction).sentence())
    console.print(paper.beside("figures 6 to 11, 13 and 15"))


def table(title: str, comparison: Comparison) -> Table:
    """A row per method: measured time, speed against the launcher, predicted costs."""
    result = Table(title=f"{title}, {comparison.repeats} runs each, {comparison.mpi}")
    for column in ("method", "time", "speed, x", "bytes between hosts", "comm_time_s"):
        result.add_column(column, justify="left" if column == "method" else "right")
    for method, runs in comparison.methods.items():
        time_s, ratio = comparison.time_s(method), comparison.time_ratio(method)
        result.add_row(
            method,
            f"{time_s.value:.2f} s [{time_s.low:.2f}, {time_s.high:.2f}]",
            f"{1 / ratio.value:.2f} [{1 / ratio.high:.2f}, {1 / ratio.low:.2f}]",
            format_size(runs.predicted.inter_bytes or 0),
            f"{runs.predicted.comm_time_s:.3g}",
        )
    return result


if __name__ == "__main__":
    main()
