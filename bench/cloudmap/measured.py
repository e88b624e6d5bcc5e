#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs on real MPI in the emulated cloud, placed by each method.

Our examples and packaged codes, every method by both metrics. Runs are interleaved; times are the
programs' own, speeds relative to the launcher's placement, with 95 % intervals. CloudMap's own
evaluation, with its baseline, is `figures.py`. Methods that find the same placement share its runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from candidates import CHOICES, alike, candidates
from packaged_codes import PACKAGED_CODES, packaged_codes
from programs import PROGRAMS, SHORT, Program, command_of, probed, timed, traced
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.flows.compare.statistics import mean_interval, ratio_to_baseline
from fairlead.lab import Lab
from fairlead.model.cost import Cost
from fairlead.units import format_size

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

SCENARIOS = ["two-racks", "pairwise", "flat"]


class Measured(NamedTuple):
    """What came of one method.

    Attributes:
        times_s: Time of each repeat.
        cost: Predicted costs of each of its placements.
        same_as: The method whose runs these are.
    """

    times_s: list[float]
    cost: list[Cost]
    same_as: str


def main() -> None:
    options = parsed()
    console = Console(width=150)
    tables = []
    hosts = 4 if options.short else None
    for scenario in options.scenario:
        with Lab.up(scenario, hosts=hosts) as lab, tempfile.TemporaryDirectory() as work:
            folder = Path(work)
            more = ["--contention"] if options.contention else []
            network = probed(lab, folder / "cloud.net.npz", *more)
            made = packaged_codes(folder, [one for one in PACKAGED_CODES if one in options.program])
            shortened = {"cg": SHORT} if options.short else {}
            for name, program in (PROGRAMS | shortened | made).items():
                if name not in options.program:
                    continue
                if not program.is_here:
                    console.print(f"{name} is not installed: left out")
                    continue
                measured = measure(lab, program, network, options, folder / name)
                title = f"{name} on {scenario}, {program.num_ranks} ranks"
                tables.append(table(title, measured, options.repeats))
                console.print(tables[-1])
    write_tables(options.tables, *tables)


def parsed() -> argparse.Namespace:
    choices = (*PROGRAMS, *PACKAGED_CODES)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help="small cg on two-racks, 4 hosts, 2 methods"
    )
    parser.add_argument("--scenario", action="append", help="instead of all three; repeatable")
    parser.add_argument(
        "--program", action="append", choices=choices, help="instead of all; repeatable"
    )
    parser.add_argument("--repeats", type=int, help="runs of each method; default: 8")
    parser.add_argument(
        "--method",
        action="append",
        choices=CHOICES,
        metavar="NAME",
        help="instead of all; repeatable: " + "; ".join(CHOICES),
    )
    parser.add_argument("--contention", action="store_true", help="measure shared bottlenecks too")
    add_tables_option(parser)
    options = parser.parse_args()
    options.scenario = options.scenario or (["two-racks"] if options.short else SCENARIOS)
    options.program = options.program or (["cg"] if options.short else list(choices))
    options.repeats = options.repeats or (2 if options.short else 8)
    options.method = options.method or (["scotch, bytes"] if options.short else None)
    return options


def measure(
    lab: Lab, program: Program, network: fl.Network, options: argparse.Namespace, folder: Path
) -> dict[str, Measured]:
    """All methods on one program, in turns."""
    traffic = traced(lab, program, folder)
    cluster = fl.Cluster.uniform(lab.hosts, 4)
    placements = candidates(traffic, network, cluster, options.repeats)
    if options.method is not None:
        placements = {one: placements[one] for one in ("launcher", *options.method)}
    same_as = alike(placements)
    costs = {
        method: [fl.evaluate(placement, traffic, network) for placement in its_placements]
        for method, its_placements in placements.items()
    }
    to_run = {method: placements[method] for method in dict.fromkeys(same_as.values())}
    times_s = interleaved(lab, program, to_run, options.repeats, folder)
    return {
        method: Measured(times_s[same_as[method]], costs[method], same_as[method])
        for method in placements
    }


def interleaved(
    lab: Lab,
    program: Program,
    placements: dict[str, Sequence[fl.Placement]],
    repeats: int,
    folder: Path,
) -> dict[str, list[float]]:
    """Times of each method; each repeat runs all of them (CloudMap section V-C)."""
    commands = {
        method: [
            command_of(
                lab,
                program,
                None if method == "launcher" else placement,
                folder / f"{method}-{index}",
            )
            for index, placement in enumerate(its_placements)
        ]
        for method, its_placements in placements.items()
    }
    times_s: dict[str, list[float]] = {method: [] for method in commands}
    rng = np.random.default_rng(0)
    started_s = time.monotonic()
    for repeat in range(repeats):
        # In another order each time, so that no method always runs after the same other one.
        for method in rng.permutation(list(commands)):
            its_commands = commands[method]
            command = its_commands[repeat % len(its_commands)]
            times_s[method].append(timed(lab, program, command, folder))
        left_s = (time.monotonic() - started_s) / (repeat + 1) * (repeats - repeat - 1)
        print(f"{repeat + 1} of {repeats} repeats, {left_s / 60:.1f} min left", file=sys.stderr)
    return times_s


def table(title: str, measured: dict[str, Measured], repeats: int) -> Table:
    """A row per method: measured time, speed against the launcher, predicted costs."""
    result = Table(title=f"{title}, {repeats} runs of each placement")
    for column in ("method", "time", "speed, x", "bytes between hosts", "eq. 4", "runs"):
        result.add_column(column, justify="left" if column in {"method", "runs"} else "right")
    baseline = measured["launcher"].times_s
    for method, found in measured.items():
        time_s, ratio = mean_interval(found.times_s), ratio_to_baseline(found.times_s, baseline)
        result.add_row(
            method,
            f"{time_s.value:.2f} s [{time_s.low:.2f}, {time_s.high:.2f}]",
            f"{1 / ratio.value:.2f} [{1 / ratio.high:.2f}, {1 / ratio.low:.2f}]",
            format_size(round(np.mean([cost.inter_bytes for cost in found.cost]))),
            f"{np.mean([cost.comm_time_s for cost in found.cost]):.3g} s",
            "its own" if found.same_as == method else f"those of {found.same_as}",
        )
    return result


if __name__ == "__main__":
    main()
