#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `fairlead run` act, and is it right? Whole runs with an empty cache, nothing handed in.

In each round the program runs once by the launcher alone, and once by `fairlead run` with its
defaults, which measures the network and traces the program itself. Compared are the program's own
times. `--load N` keeps N processes busy meanwhile. All ranks share the processors of this machine,
where a code that computes much hardly waits for the network; `--slower` divides the network's
rates. Ctrl-C ends a row with the rounds that it has.

Printed are how often a placement was taken, the program's time as part of the launcher's (median of
the pairs of runs with the interval of the median, and mean ratio), what deciding took, and two
savings as part of the time on the network: predicted by `fairlead run`, and true, which is what
`optimize` gains on the rates that the cloud is shaped to, with a traffic traced once.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.stats
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "objective"))
from busy import busy
from programs import PROGRAMS, SHORT, Program, command_of, prepared, time_of, timed, traced
from running import shaped

import fairlead as fl
from fairlead.act.launch import read_hostfile
from fairlead.decide.placement import COST_OF_OBJECTIVE, DEFAULT_OBJECTIVE
from fairlead.flows.compare.statistics import ratio_to_baseline
from fairlead.lab import Lab, Scenario

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

SCENARIOS = ("two-racks", "pairwise", "flat")
PROGRAM_NAMES = ("cg", "lammps")
# A solve of `cg` takes half a second, no longer than a disturbance of the machine; ten solves show
# a difference of a few percent.
CHOICES = PROGRAMS | {
    "cg-10": Program(("cg", "--size", "56000", "--systems", "10")),
    # At a tenth of a cloud's rates its 50 steps take half a minute.
    "lammps-15": dataclasses.replace(
        PROGRAMS["lammps"], command=(*PROGRAMS["lammps"].command, "-var", "steps", "15")
    ),
    # As in the paper CMPI: each step is an allgather, made of a gather and a bcast.
    "cg-allgather": Program(
        ("cg", "--size", "32768", "--systems", "1", "--allgather", "1"), num_ranks=16
    ),
    "nbody": Program(("nbody", "--bodies", "4096", "--steps", "100"), num_ranks=16),
}


@dataclasses.dataclass
class Series:
    """The rounds of one program in one cloud."""

    launcher_s: list[float] = dataclasses.field(default_factory=list)
    run_s: list[float] = dataclasses.field(default_factory=list)
    has_acted: list[bool] = dataclasses.field(default_factory=list)
    has_tuned: list[bool] = dataclasses.field(default_factory=list)
    deciding_s: list[float] = dataclasses.field(default_factory=list)
    predicted_ratio: list[float] = dataclasses.field(default_factory=list)


def main() -> None:
    options = parsed()
    console = Console(width=160)
    rows = Table(box=None, title=f"{options.load} busy processes meanwhile")
    for heading in (
        *("cloud", "program", "acted", "tuned collectives", "time / launcher's, median", "mean"),
        "launcher (s)",
        *("deciding, median (s)", "most (s)", "predicted saving", "true saving"),
    ):
        rows.add_column(heading)
    with busy(options.load):
        for scenario in options.scenario:
            with Lab.up(Scenario.load(scenario, options.hosts).slower(options.slower)) as lab:
                for name in options.program:
                    if not CHOICES[name].is_here:
                        console.print(f"{name} is not installed: left out")
                        continue
                    chosen = SHORT if options.short and name == "cg" else CHOICES[name]
                    ranks = options.ranks or chosen.num_ranks
                    program = dataclasses.replace(chosen, num_ranks=ranks)
                    saving_ratio = true_saving(lab, program)
                    row = [*cells(measure(lab, program, options.repeats)), f"{saving_ratio:.0%}"]
                    rows.add_row(scenario, name, *row)
                    print(scenario, name, *row, sep=" | ", file=sys.stderr, flush=True)
    console.print(rows)
    write_tables(options.tables, rows)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help="small cg on two-racks, 4 hosts, one round"
    )
    parser.add_argument("--scenario", action="append", help="instead of all three; repeatable")
    parser.add_argument("--program", action="append", choices=CHOICES, help="repeatable")
    parser.add_argument("--repeats", type=int, help="rounds of each row; default: 20")
    parser.add_argument("--load", type=int, default=0, help="processes that keep a core busy")
    parser.add_argument("--ranks", type=int, help="of each program; default: its own number")
    parser.add_argument("--hosts", type=int, help="hosts of each cloud; default: the scenario's")
    parser.add_argument("--slower", type=float, default=1.0, help="divides the cloud's rates")
    add_tables_option(parser)
    options = parser.parse_args()
    options.scenario = options.scenario or (["two-racks"] if options.short else [*SCENARIOS])
    options.program = options.program or (["cg"] if options.short else [*PROGRAM_NAMES])
    options.repeats = options.repeats or (1 if options.short else 20)
    options.hosts = options.hosts or (4 if options.short else None)
    return options


def true_saving(lab: Lab, program: Program) -> float:
    """What `optimize` saves of the launcher's time on the network, by the true rates."""
    with tempfile.TemporaryDirectory() as folder:
        traffic = traced(lab, program, Path(folder) / "traced")
    cluster = read_hostfile(lab.hostfile)
    network = shaped(lab.topology()).select(cluster.hosts)
    costs_s = [
        getattr(
            fl.evaluate(fl.place(traffic, network, cluster, method), traffic, network),
            COST_OF_OBJECTIVE[DEFAULT_OBJECTIVE],
        )
        for method in ("optimize", "launcher")
    ]
    return float(1 - costs_s[0] / costs_s[1])


def measure(lab: Lab, program: Program, repeats: int) -> Series:
    """As many rounds, or those before Ctrl-C."""
    series = Series()
    try:
        for number in range(repeats):
            # The order alternates, so that a trend favours neither.
            turns = [launcher_alone, fairlead_run]
            for turn in turns if number % 2 == 0 else turns[::-1]:
                with tempfile.TemporaryDirectory() as folder:
                    turn(lab, program, Path(folder), series)
    except KeyboardInterrupt:
        if not (series.launcher_s and series.run_s):
            raise
    return series


def launcher_alone(lab: Lab, program: Program, folder: Path, series: Series) -> None:
    command = command_of(lab, program, None, folder / "launcher")
    series.launcher_s.append(timed(lab, program, command, folder / "run"))


def fairlead_run(lab: Lab, program: Program, folder: Path, series: Series) -> None:
    """As a user calls it for the first time."""
    work = prepared(program, folder / "run")
    command = [
        *(sys.executable, "-m", "fairlead", "run", "--first", "twice", "--json"),
        *("-n", str(program.num_ranks), "--hostfile", str(lab.hostfile), "--", *program.argv),
    ]
    home = {name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    done = lab.run(
        command, cwd=work, env={**os.environ, **home}, capture_output=True, text=True, timeout=1200
    )
    series.run_s.append(time_of(program, done, work))
    facts = next(json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))
    series.has_acted.append(not facts["kept_launcher_placement"])
    collectives = facts["collectives"]
    series.has_tuned.append(collectives is not None and bool(collectives["rules"]))
    series.deciding_s.append(facts["deciding_s"])
    series.predicted_ratio.append(facts["gain"]["ratio"])


def cells(series: Series) -> list[str]:
    pairs = np.array(list(zip(series.run_s, series.launcher_s, strict=False)))  # whole rounds only
    ratios = pairs[:, 0] / pairs[:, 1]
    mean = ratio_to_baseline(*pairs.T.tolist())
    low, high = median_interval(ratios)
    return [
        f"{sum(series.has_acted)} of {len(series.has_acted)}",
        f"{sum(series.has_tuned)} of {len(series.has_tuned)}",
        f"{np.median(ratios):.2f} [{low:.2f}, {high:.2f}]",
        f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]",
        f"{np.median(series.launcher_s):.2f}",
        f"{np.median(series.deciding_s):.1f}",
        f"{max(series.deciding_s):.1f}",
        f"{np.median(series.predicted_ratio):.0%}",
    ]


def median_interval(values: np.ndarray) -> tuple[float, float]:
    """95 % interval of the median by order statistics; the range where there are too few."""
    ordered = np.sort(values)
    below = int(scipy.stats.binom.ppf(0.025, len(values), 0.5))
    return float(ordered[max(below - 1, 0)]), float(
        ordered[min(len(values) - below, len(values) - 1)]
    )


if __name__ == "__main__":
    main()
