#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Codes that Fairlead was not tuned with: is `fairlead run` as fast as the best of 20 placements?

Each code runs once by `fairlead run` without options and with an empty cache. Then 20 placements
that differ run in turns: what all methods make of the rates that the cloud is shaped to, and
mixtures of them (bench/objective/placements.py). The three best of these, the launcher's and the
one that `fairlead run` took are then compared in further turns. So the best of 20 is chosen with
the knowledge of the true network, and again by what is compared, which favours it.

Printed are the code's own times relative to the launcher's placement and to the best of the 20.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "objective"))
from packaged_codes import PACKAGED_CODES, packaged_codes
from placements import differing
from programs import SHORT, Program, command_of, prepared, timed, traced
from running import shaped

import fairlead as fl
from fairlead.act.launch import read_hostfile
from fairlead.flows.compare.statistics import Interval, ratio_to_baseline
from fairlead.lab import Lab, Scenario

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

SCENARIOS = ("two-racks", "pairwise")
NUM_PLACEMENTS = 20
NUM_FINALISTS = 3
SEED = 1


def main() -> None:
    options = parsed()
    console = Console(width=160)
    rows = Table(box=None, title=f"{options.repeats} runs of each finalist")
    for heading in (
        *("cloud", "code", "acted", "time / launcher's", "time / best of the others"),
        *("best of the others", "launcher (s)"),
    ):
        rows.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        # That the benchmark works is shown without any packaged code.
        programs = {"cg": SHORT} if options.short else packaged_codes(Path(folder), options.code)
        hosts = 4 if options.short else None
        for scenario in options.scenario:
            with Lab.up(Scenario.load(scenario, hosts).slower(options.slower)) as lab:
                for name in programs:
                    cells = tried(lab, programs[name], options)
                    rows.add_row(scenario, name, *cells)
                    print(scenario, name, *cells, sep=" | ", file=sys.stderr, flush=True)
    console.print(rows)
    write_tables(options.tables, rows)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help="cg on two-racks, 4 hosts, 2 placements"
    )
    parser.add_argument("--scenario", action="append", help="instead of both; repeatable")
    parser.add_argument(
        "--code", action="append", choices=PACKAGED_CODES, help="instead of all; repeatable"
    )
    parser.add_argument("--slower", type=float, default=1.0, help="divides the cloud's rates")
    parser.add_argument("--number", type=int, help=f"placements; default: {NUM_PLACEMENTS}")
    parser.add_argument("--first", type=int, help="runs of each at first; default: 2")
    parser.add_argument("--repeats", type=int, help="further runs of the best; default: 10")
    add_tables_option(parser)
    options = parser.parse_args()
    if options.short and options.code:
        parser.error("--short runs cg: leave --code out")
    options.scenario = options.scenario or [*SCENARIOS][: 1 if options.short else None]
    options.number = options.number or (2 if options.short else NUM_PLACEMENTS)
    options.first = options.first or (1 if options.short else 2)
    options.repeats = options.repeats or (1 if options.short else 10)
    return options


def tried(lab: Lab, program: Program, options: argparse.Namespace) -> list[str]:
    """The cells of one row."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        taken = taken_by_run(lab, program, work)
        cluster = read_hostfile(lab.hostfile)
        network = shaped(lab.topology()).select(cluster.hosts)
        others = differing(
            traced(lab, program, work / "traced"), network, cluster, options.number, SEED
        )
        named = {f"{index} {one.method}": one for index, one in enumerate(others)}
        first = in_turns(lab, program, named, options.first, work)
        medians = {name: statistics.median(times_s) for name, times_s in first.items()}
        best = sorted(named, key=medians.__getitem__)[:NUM_FINALISTS]
        finalists = {"launcher": None, "run": taken} | {name: named[name] for name in best}
        final = in_turns(lab, program, finalists, options.repeats, work)
    winner = min(best, key=lambda name: float(np.mean(final[name])))
    return [
        "no" if taken is None else "yes",
        format_ratio(ratio_to_baseline(final["run"], final["launcher"])),
        format_ratio(ratio_to_baseline(final["run"], final[winner])),
        winner,
        f"{statistics.median(final['launcher']):.2f}",
    ]


def format_ratio(ratio: Interval) -> str:
    if math.isnan(ratio.low):
        return f"{ratio.value:.2f}"  # one run
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def taken_by_run(lab: Lab, program: Program, work: Path) -> fl.Placement | None:
    """The placement that `fairlead run` takes when it is called for the first time."""
    folder = prepared(program, work / "run")
    home = {name: str(work / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    command = [
        *(sys.executable, "-m", "fairlead", "run", "--first", "twice", "--json"),
        *("-n", str(program.num_ranks), "--hostfile", str(lab.hostfile), "--", *program.argv),
    ]
    done = lab.run(
        command,
        cwd=folder,
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise SystemExit(f"fairlead run failed:\n{done.stdout}{done.stderr}")
    facts = json.loads(lines[0])
    if facts["kept_launcher_placement"]:
        return None
    hosts = read_hostfile(lab.hostfile).hosts
    return fl.Placement(hosts, [hosts.index(host) for host in facts["host_of_rank"]], "run")


def in_turns(
    lab: Lab,
    program: Program,
    placements: Mapping[str, fl.Placement | None],
    repeats: int,
    work: Path,
) -> dict[str, list[float]]:
    """Seconds of each run by each placement; the order of the turns rotates."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        commands = {
            name: command_of(lab, program, placement, Path(folder) / str(index))
            for index, (name, placement) in enumerate(placements.items())
        }
        times_s: dict[str, list[float]] = {name: [] for name in commands}
        names: Sequence[str] = [*commands]
        for turn in range(repeats):
            for name in [*names[turn % len(names) :], *names[: turn % len(names)]]:
                times_s[name].append(timed(lab, program, commands[name], Path(folder) / "run"))
    return times_s


if __name__ == "__main__":
    main()
