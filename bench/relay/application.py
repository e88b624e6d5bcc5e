#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What relays are worth to a whole program in the emulated cloud, also where a pair degrades.

`stencil` in slices, one rank on each host, so that each sends both faces of its slice to its
neighbours; or `cg` on a grid of ranks. All hosts share the processors of this machine, so rates are
a tenth of the scenario's: else computing and forwarding would compete for them, as they do not in a
cloud. In each round the program runs by the MPI alone and with relays, on the network as it was
measured and on one whose pair h0 -> h1 falls to a tenth while the program runs. Printed are its own
times, those with relays as part of the MPI's (medians of paired ratios with 95 % intervals), and
which part of the time that the degradation costs relays give back.

python bench/relay/application.py     ten minutes for each cloud; --short for 4 hosts, one round
"""

from __future__ import annotations

import argparse
import re
import tempfile
import threading
from pathlib import Path

import numpy as np
from clouds import measured, run_in

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.decide.paired_median import paired_gain
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario

DEGRADED = ("h0", "h1", 0.1)
SOLVE = re.compile(r"^solve_s\s+([0-9.eE+-]+)", re.MULTILINE)
RUNS = [(False, False), (False, True), (True, False), (True, True)]
"""Whether the pair falls, and whether there are relays."""


def main() -> None:
    options = parsed()
    for scenario in options.scenario:
        with (
            tempfile.TemporaryDirectory() as name,
            Lab.up(Scenario.load(scenario, options.hosts).slower(options.slower)) as lab,
        ):
            report(scenario, times_of(lab, Path(name), options))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="flat, 4 hosts, one round of 16 steps")
    parser.add_argument("--scenario", action="append", help="instead of pairwise and flat")
    parser.add_argument("--even", action="store_true", help="only without a degraded pair")
    parser.add_argument("--hosts", type=int, help="default: the scenario's")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--program", choices=("stencil", "cg"), default="stencil")
    parser.add_argument("--size", type=int, help="cells along each edge, rows of cg's matrix")
    parser.add_argument("--steps", type=int, default=200, help="systems of cg are a tenth of it")
    parser.add_argument("--after", type=float, default=4.0, help="seconds until the pair falls")
    parser.add_argument("--slower", type=float, default=10.0, help="divides the scenario's rates")
    options = parser.parse_args()
    options.scenario = options.scenario or ["pairwise", "flat"]
    if options.short:
        options.scenario, options.hosts, options.rounds, options.steps = ["flat"], 4, 1, 16
        options.after = 0.5
    return options


def times_of(lab: Lab, folder: Path, options: argparse.Namespace) -> np.ndarray:
    """Seconds of the program, a row for each round, columns as in RUNS."""
    network = measured(lab)
    argv = command_of(options, len(lab.hosts))
    runs = [run for run in RUNS if not (options.even and run[0])]
    times_s = np.empty((options.rounds, len(runs)))
    for number in range(options.rounds):
        # The order alternates, so that a trend favours neither.
        for column in range(len(runs))[:: 1 if number % 2 else -1]:
            is_degraded, with_relays = runs[column]
            src, dst, ratio = DEGRADED
            fall = threading.Timer(options.after, lab.degrade, (src, dst, ratio))
            if is_degraded:
                fall.start()
            result = run_in(
                lab, network, argv, len(lab.hosts), folder / f"{number}-{column}",
                with_relays=with_relays,
            )  # fmt: skip
            if is_degraded:
                fall.join()
                lab.degrade(src, dst, 1 / ratio)
            found = SOLVE.search(result["output"])
            if found is None:
                raise SystemExit(f"{argv[0]} printed no time:\n{result['output']}")
            times_s[number, column] = float(found[1])
        print(f"round {number}:", *(f"{time_s:.2f} s" for time_s in times_s[number]), flush=True)
    return times_s


def command_of(options: argparse.Namespace, num_ranks: int) -> list[str]:
    program = str(find(detect("mpirun.openmpi")).example(options.program))
    if options.program == "cg":
        sizes = ["--size", str(options.size or 112000), "--systems", str(options.steps // 10)]
        return [program, *sizes]
    sizes = ["--size", str(options.size or 192), "--steps", str(options.steps)]
    return [program, *sizes, "--dims", f"{num_ranks},1,1"]


def report(scenario: str, times_s: np.ndarray) -> None:
    even, even_relays, *others = times_s.T
    print(
        f"{scenario}: {np.median(even):.2f} s by the MPI alone, with relays "
        f"{part(even_relays, even)} of it",
        flush=True,
    )
    if not others:
        return
    degraded, degraded_relays = others
    print(
        f"{scenario}, h0 -> h1 falls to a tenth: {np.median(degraded):.2f} s by the MPI alone, "
        f"with relays {part(degraded_relays, degraded)} of it"
    )
    cost_s = np.median(degraded) - np.median(even)
    saved_s = np.median(degraded) - np.median(degraded_relays)
    if cost_s > 0:
        print(
            f"{scenario}: of the {cost_s:.2f} s that this costs, relays give back "
            f"{saved_s / cost_s:.0%} (wanted: 70 %)",
            flush=True,
        )


def part(ours_s: np.ndarray, theirs_s: np.ndarray) -> str:
    gain = paired_gain(ours_s, theirs_s)
    ratio = f"{1 - gain.ratio:.3f}"
    if not np.isfinite(gain.low_ratio):
        return f"{ratio} (too few runs for an interval)"
    return f"{ratio} [{1 - gain.high_ratio:.3f}, {1 - gain.low_ratio:.3f}]"


if __name__ == "__main__":
    main()
