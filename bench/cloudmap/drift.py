#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long series of runs in the lab while the network changes.

Placements of the same program take turns: the launcher's own, and CloudMap's by bandwidth and by
latency, each from a profile of the start and from one renewed before each round. The lab's rates
change, its latencies do not: it has no more than the machine's own. CloudMap's own series is
`figures.py --item figure-12`.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from programs import PROGRAMS, SHORT, Program, command_of, probed, timed, traced_here
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.flows.compare.statistics import mean_interval, ratio_to_baseline
from fairlead.lab import Lab, Scenario

LAUNCHER = "launcher"
PROFILES = ("start", "renewed")
METRICS = {"bandwidth": "bytes", "latency": "messages"}
SERIES = (LAUNCHER, *(f"{metric}, {profile}" for metric in METRICS for profile in PROFILES))
CHANGE_S = 300.0  # The lab's pairs are drawn anew as often.


class Round(NamedTuple):
    """One run of each placement.

    Attributes:
        at: When, as it is shown.
    """

    at: str
    times_s: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="one round of a smaller cg on 4 hosts")
    parser.add_argument("--minutes", type=float, help="length of the series; default: 60")
    parser.add_argument("--every", type=float, default=0, help="minutes from round to round")
    parser.add_argument("--slower", type=float, default=1, help="divides the lab's rates")
    options = parser.parse_args()
    minutes = options.minutes if options.minutes is not None else (0 if options.short else 60)
    console = Console(width=150)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = SHORT if options.short else PROGRAMS["cg"]
        hosts = 4 if options.short else None
        traffic = traced_here(program, folder / "cg.traffic.npz")
        with Lab.up(changing_lab(minutes).slower(options.slower), hosts=hosts) as lab:
            lengths_s = {"length_s": 60 * minutes, "every_s": 60 * options.every}
            rounds = list(in_lab(lab, program, traffic, folder, **lengths_s))
        title = f"{program.num_ranks} ranks, in the lab, {minutes:g} min on drift"
        console.print(table(title, rounds))


def in_lab(
    lab: Lab,
    program: Program,
    traffic: fl.Traffic,
    folder: Path,
    *,
    length_s: float,
    every_s: float,
) -> Iterable[Round]:
    """Rounds until the time is over, at least one; each measures the network anew."""
    started_s = time.monotonic()
    first = probed(lab, folder / "first.net.npz")
    for index in itertools.count():
        at_s = max(time.monotonic() - started_s, every_s * index)
        if index and at_s >= length_s:
            return
        time.sleep(max(0.0, started_s + at_s - time.monotonic()))
        placements = placed(traffic, first, probed(lab, folder / f"{index}.net.npz"))
        times_s = {}
        # In another order each time, so that no placement always runs after the same other one.
        for shift in range(len(SERIES)):
            series = SERIES[(index + shift) % len(SERIES)]
            place = None if series == LAUNCHER else placements[series]
            command = command_of(lab, program, place, folder / f"{index}-{series}")
            times_s[series] = timed(lab, program, command, folder / "run")
        yield Round(f"{at_s / 60:.1f} min", times_s)


def placed(traffic: fl.Traffic, first: fl.Network, renewed: fl.Network) -> dict[str, fl.Placement]:
    """The placement of each series."""
    cluster = fl.Cluster.uniform(first.hosts, 4)
    found = {LAUNCHER: fl.place(traffic, first, cluster, "launcher")}
    for name, metric in METRICS.items():
        for profile, network in zip(PROFILES, (first, renewed), strict=True):
            found[f"{name}, {profile}"] = fl.place(
                traffic, network, cluster, "scotch", metric=metric, objective="sum"
            )
    return found


def changing_lab(minutes: float) -> Scenario:
    """`drift` with its pairs drawn anew all along the series."""
    fields = Scenario.load("drift").model_dump()
    num_changes = int(60 * minutes / CHANGE_S)
    fields["changes"] = [
        {"at_s": CHANGE_S * (index + 1), "seed": 100 + index} for index in range(num_changes)
    ]
    return Scenario.model_validate(fields)


def table(title: str, rounds: list[Round]) -> Table:
    """A row per round, then the means and the ratios to the launcher's placement."""
    result = Table(title=f"cg, {title}: time of each run in s")
    for column in ("after", *SERIES):
        result.add_column(column, justify="right")
    for one in rounds:
        result.add_row(one.at, *(f"{one.times_s[name]:.2f}" for name in SERIES))
    columns = {name: [one.times_s[name] for one in rounds] for name in SERIES}
    result.add_section()
    means = (mean_interval(columns[name]) for name in SERIES)
    result.add_row("mean", *(f"{m.value:.2f} [{m.low:.2f}, {m.high:.2f}]" for m in means))
    ratios = (ratio_to_baseline(columns[name], columns[LAUNCHER]) for name in SERIES)
    result.add_row("x", *(f"{r.value:.2f} [{r.low:.2f}, {r.high:.2f}]" for r in ratios))
    spreads = (statistics.pstdev(columns[name]) for name in SERIES)
    result.add_row("sd", *(f"{spread:.2f}" for spread in spreads))
    return result


if __name__ == "__main__":
    main()
