#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well each objective ranks placements as their measured times do, in the emulated cloud.

Kendall's tau (1: the same order, -1: the reverse) between predicted cost and measured time of
different placements of one program, with 95 % bootstrap intervals. `drift` is not among the
scenarios: there the network that a prediction is made for is gone before the last run.

Each scenario is drawn twice. An objective is chosen on one draw and judged on the other. Runs go on
until one half of them orders the placements as the other half does, so far as time allows.

With `--keep` all that was measured stays in a folder, and `--kept` judges objectives by it later;
`--pairs-only` as if `fairlead probe` had been run without `--contention`.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import tempfile
from collections.abc import Generator, Iterable
from pathlib import Path

import judging
import placements
import running
from rich.console import Console
from series import TIMES, Series, keep, kept

import fairlead as fl
from fairlead.flows.compare.statistics import kendall_tau_of_repeats
from fairlead.lab import Lab

SCENARIOS = ("two-racks", "pairwise", "flat")
DRAWS = 2  # For each scenario.
NUMBER = 20  # Most different placements of each program.
REPEATS = 4
MOST_REPEATS = 12


def main() -> None:
    options = parsed()
    console = Console(width=230)
    if options.kept is not None:
        print_table(console, kept(options.kept), options)
        return
    num_placements = len(options.scenario) * options.draws * len(options.program) * options.number
    clock = running.Clock(num_placements * options.repeats)
    with contextlib.closing(measured_anew(options, clock)) as all_series:
        print_table(console, all_series, options)
    if options.short:
        num_placements = len(SCENARIOS) * DRAWS * len(running.PROGRAMS) * NUMBER
        for repeats in (REPEATS, MOST_REPEATS):
            console.print(f"{repeats} runs of each: {clock.estimate(num_placements * repeats)}")


def print_table(
    console: Console, all_series: Iterable[Series], options: argparse.Namespace
) -> None:
    rows = [
        judging.judge(series, pairs_only=options.pairs_only, seed=options.seed)
        for series in all_series
    ]
    title = f"{options.ranks} ranks, interleaved runs"
    if options.pairs_only:
        title += ", pairs only"
    if options.kept is None:
        title += f"; network: {'shaped rates' if options.truth else 'fairlead probe'}"
    console.print(judging.table(rows, title))
    for sentence in judging.sentences(rows):
        console.print(sentence)


def measured_anew(
    options: argparse.Namespace, clock: running.Clock
) -> Generator[Series, None, None]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traffic_of: dict[str, fl.Traffic] = {}
        for scenario in options.scenario:
            for draw in range(options.draws):
                with Lab.up(
                    running.drawn(scenario, draw).slower(options.slower), hosts=options.hosts
                ) as lab:
                    for series in measured_in(lab, options, traffic_of, folder, clock):
                        if options.keep is not None:
                            keep(options.keep, series)
                        yield series


def measured_in(
    lab: Lab,
    options: argparse.Namespace,
    traffic_of: dict[str, fl.Traffic],
    folder: Path,
    clock: running.Clock,
) -> Generator[Series, None, None]:
    """A series of each program in this cloud."""
    if options.truth:
        network = running.shaped(lab.topology())
    else:
        network = running.probed(lab, folder, shlex.split(options.probe_options))
    cluster = fl.Cluster.uniform(lab.hosts, options.ranks // len(lab.hosts))
    for program in options.program:
        if program not in traffic_of:
            traffic_of[program] = running.traced(lab, program, folder, options.ranks)
        traffic = traffic_of[program]
        chosen = placements.differing(traffic, network, cluster, options.number, options.seed)
        times_s = running.measured(
            lab,
            program,
            chosen,
            repeats=options.repeats,
            most_repeats=options.most_repeats,
            enough=lambda times: kendall_tau_of_repeats(times) >= judging.AGREEING_TAU,
            folder=folder,
            on_run=clock.tick,
        )
        yield Series(lab.name, program, traffic, network, chosen, times_s)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help="8 ranks of cg on two-racks, 4 hosts, 3 runs"
    )
    parser.add_argument("--scenario", action="append", help="instead of all three; repeatable")
    parser.add_argument("--program", action="append", choices=running.PROGRAMS)
    parser.add_argument("--draws", type=int, help="of each scenario")
    parser.add_argument("--slower", type=float, help="divides the clouds' rates; default: 1")
    parser.add_argument("--number", type=int, help="most different placements")
    parser.add_argument("--repeats", type=int, help="least runs of each placement")
    parser.add_argument("--most-repeats", type=int, help="while the runs do not agree")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--truth", action="store_true", help="predict from the lab's shaped rates")
    parser.add_argument(
        "--probe-options", help="for fairlead probe, such as --probe-options=--full; default: "
        "--contention, with --short none"
    )  # fmt: skip
    parser.add_argument("--pairs-only", action="store_true", help="ignore measured bottlenecks")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write what was measured there")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="read it instead of measuring")
    options = parser.parse_args()
    if options.kept is not None:
        others = set(vars(options)) - {"kept", "seed", "pairs_only"}
        if any(getattr(options, other) for other in others):
            parser.error("--kept measures nothing: only --seed and --pairs-only go with it")
        if not list(options.kept.glob(f"*/{TIMES}")):
            parser.error(f"--kept: nothing was kept in {options.kept}")
    if options.keep is not None and list(options.keep.glob(f"*/{TIMES}")):
        parser.error(f"--keep: another series is in {options.keep}: remove it first")
    if options.probe_options is None:
        options.probe_options = "" if options.short else "--contention"
    options.scenario = options.scenario or list(SCENARIOS[:1] if options.short else SCENARIOS)
    options.program = options.program or list(running.PROGRAMS)[: 1 if options.short else None]
    options.slower = options.slower or 1.0
    options.hosts = 4 if options.short else None
    options.ranks = 8 if options.short else running.NUM_RANKS
    options.draws = options.draws or (1 if options.short else DRAWS)
    options.number = options.number or (3 if options.short else NUMBER)
    options.repeats = options.repeats or (1 if options.short else REPEATS)
    options.most_repeats = options.most_repeats or (1 if options.short else MOST_REPEATS)
    if options.number < 3 or options.repeats < 1 or options.draws < 1:
        parser.error("at least 3 placements, 1 draw and 1 run of each are needed")
    return options


if __name__ == "__main__":
    main()
