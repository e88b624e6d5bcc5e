#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well each objective ranks placements as their measured times do, in the emulated cloud.

Kendall's tau (1: the same order, -1: the reverse) between predicted cost and measured time of
different placements of one program, with 95 % bootstrap intervals. `drift` is not among the
scenarios: there the network that a prediction is made for is gone before the last run.

With `--keep` all that was measured stays in a folder, and `--kept` judges objectives by it later;
`--pairs-only` as if `fairlead probe` had been run without `--contention`.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import shlex
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import placements
import running
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.lab import Lab
from fairlead.statistics import kendall_tau_interval, kendall_tau_of_repeats

SCENARIOS = ("two-racks", "pairwise", "flat")
NUMBER = 20  # Different placements of each program.
REPEATS = 2
TRAFFIC, NETWORK, TIMES = "run.traffic.npz", "run.net.npz", "times.npz"
OBJECTIVES: dict[str, Callable[[fl.Cost], float]] = {
    "sum, bytes": lambda cost: cost.weighted_sum["bytes"],
    "sum, messages": lambda cost: cost.weighted_sum["messages"],
    "comm_time_s": lambda cost: cost.comm_time_s,
    "bottleneck_s": lambda cost: cost.bottleneck_s,
    "bottleneck_and_mean_s": lambda cost: cost.bottleneck_and_mean_s,
}


def main() -> None:
    options = parsed()
    console = Console(width=180)
    if options.kept is not None:
        console.print(judged(kept(options.kept), options))
        return
    clock = running.Clock(
        len(options.scenario) * len(options.program) * options.number * options.repeats
    )
    with contextlib.closing(measured_anew(options, clock)) as all_series:
        console.print(judged(all_series, options))
    if options.short:
        console.print(clock.estimate(len(SCENARIOS) * len(running.PROGRAMS) * NUMBER * REPEATS))


def measured_anew(
    options: argparse.Namespace, clock: running.Clock
) -> Generator[Series, None, None]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traffic_of: dict[str, fl.Traffic] = {}
        for scenario in options.scenario:
            with Lab.up(scenario) as lab:
                network = (
                    running.shaped(lab.topology())
                    if options.truth
                    else running.probed(lab, folder, shlex.split(options.probe_options))
                )
                for program in options.program:
                    if program not in traffic_of:
                        traffic_of[program] = running.traced(lab, program, folder)
                    series = measured(
                        lab,
                        scenario,
                        program,
                        traffic_of[program],
                        network,
                        options=options,
                        folder=folder,
                        clock=clock,
                    )
                    if options.keep is not None:
                        keep(options.keep, series)
                    yield series


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="cg on two-racks, 3 placements, 1 run")
    parser.add_argument("--scenario", action="append", help="instead of all three; repeatable")
    parser.add_argument("--program", action="append", choices=running.PROGRAMS)
    parser.add_argument("--number", type=int, help="different placements")
    parser.add_argument("--repeats", type=int, help="runs of each placement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--truth", action="store_true", help="predict from the lab's shaped rates")
    parser.add_argument(
        "--probe-options", help="for fairlead probe, such as --probe-options=--full; default: "
        "--contention, with --short none"
    )  # fmt: skip
    parser.add_argument("--pairs-only", action="store_true", help="forget what pairs share")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write what was measured there")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="read it instead of measuring")
    options = parser.parse_args()
    if options.kept is not None:
        others = set(vars(options)) - {"kept", "seed", "pairs_only"}
        if any(getattr(options, other) for other in others):
            parser.error("--kept measures nothing: only --seed and --pairs-only go with it")
        if not list(options.kept.glob(f"*/{TIMES}")):
            parser.error(f"--kept: nothing was kept in {options.kept}")
    if options.probe_options is None:
        options.probe_options = "" if options.short else "--contention"
    options.scenario = options.scenario or list(SCENARIOS[:1] if options.short else SCENARIOS)
    options.program = options.program or list(running.PROGRAMS)[: 1 if options.short else None]
    options.number = options.number or (3 if options.short else NUMBER)
    options.repeats = options.repeats or (1 if options.short else REPEATS)
    if options.number < 3 or options.repeats < 1:
        parser.error("at least 3 placements and 1 run of each are needed")
    return options


class Series(NamedTuple):
    """What was measured of one program in one scenario."""

    scenario: str
    program: str
    traffic: fl.Traffic
    network: fl.Network
    placements: list[fl.Placement]
    times_s: np.ndarray
    """Shape (P, R)."""


def measured(
    lab: Lab,
    scenario: str,
    program: str,
    traffic: fl.Traffic,
    network: fl.Network,
    *,
    options: argparse.Namespace,
    folder: Path,
    clock: running.Clock,
) -> Series:
    cluster = fl.Cluster.uniform(lab.hosts, running.NUM_RANKS // len(lab.hosts))
    chosen = placements.spread(traffic, network, cluster, options.number, options.seed)
    times_s = running.measured(
        lab, program, chosen, repeats=options.repeats, folder=folder, on_run=clock.tick
    )
    return Series(scenario, program, traffic, network, chosen, times_s)


def keep(folder: Path, series: Series) -> None:
    its_folder = folder / f"{series.scenario}-{series.program}"
    its_folder.mkdir(parents=True, exist_ok=True)
    # Where the program lies on this machine is nobody's business.
    traffic = dataclasses.replace(series.traffic, origin={"how": "traced"})
    traffic.save(its_folder / TRAFFIC)
    series.network.save(its_folder / NETWORK)
    names = [placement.method for placement in series.placements]
    hosts = [placement.host_of_rank for placement in series.placements]
    np.savez(its_folder / TIMES, names=names, host_of_rank=hosts, times_s=series.times_s)


def kept(folder: Path) -> Iterator[Series]:
    for file in sorted(folder.glob(f"*/{TIMES}")):
        scenario, _, program = file.parent.name.rpartition("-")
        network = fl.Network.load(file.parent / NETWORK)
        with np.load(file) as arrays:
            found = [
                fl.Placement(network.hosts, hosts, str(name))
                for hosts, name in zip(arrays["host_of_rank"], arrays["names"], strict=True)
            ]
            times_s = arrays["times_s"]
        traffic = fl.Traffic.load(file.parent / TRAFFIC)
        yield Series(scenario, program, traffic, network, found, times_s)


def judged(all_series: Iterable[Series], options: argparse.Namespace) -> Table:
    """A row per series, and the mean of each objective."""
    table = empty_table(options)
    taus = []
    for series in all_series:
        cells, its_taus = row(series, options)
        table.add_row(*cells)
        taus.append(its_taus)
    means = [shown(float(np.nanmean(of_objective))) for of_objective in np.transpose(taus)]
    table.add_row(f"{len(taus)} series", "mean", "", "", "", *means)
    return table


def row(series: Series, options: argparse.Namespace) -> tuple[list[str], list[float]]:
    """Measured spread, agreement of the runs with one another, then of each objective."""
    network = series.network
    if options.pairs_only:
        network = dataclasses.replace(network, nic_out_Bps=None, nic_in_Bps=None, groups=[])
    costs = [fl.evaluate(placement, series.traffic, network) for placement in series.placements]
    means_s = series.times_s.mean(axis=1)
    cells = [
        series.scenario,
        series.program,
        str(len(costs)),
        f"{means_s.min():.2f} to {means_s.max():.2f}",
        shown(kendall_tau_of_repeats(series.times_s)),
    ]
    taus = []
    for objective in OBJECTIVES.values():
        predicted_s = [objective(cost) for cost in costs]
        tau = kendall_tau_interval(predicted_s, series.times_s, options.seed)
        taus.append(tau.value)
        bounds = "" if math.isnan(tau.value) else f" [{tau.low:.2f}, {tau.high:.2f}]"
        cells.append(shown(tau.value) + bounds)
    return cells, taus


def shown(tau: float) -> str:
    return "-" if math.isnan(tau) else f"{tau:.2f}"


def empty_table(options: argparse.Namespace) -> Table:
    title = f"Kendall's tau with the measured time, {running.NUM_RANKS} ranks, interleaved runs"
    if options.pairs_only:
        title += ", pairs only"
    if options.kept is None:
        source = "the lab's shaped rates" if options.truth else "what fairlead probe measured"
        title += f", {options.repeats} of each; network: {source}"
    table = Table(title=title)
    for column in ("scenario", "program", "placements", "time, s", "runs with runs", *OBJECTIVES):
        table.add_column(column, no_wrap=True)
    return table


if __name__ == "__main__":
    main()
