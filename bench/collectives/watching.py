#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does watching collectives for drift cost?

Ranks on invented hosts make the same allreduce again and again, by the same schedule, with and
without `max_drift_ratio` in the plan, in turns. The drift allowed is so large that nothing is ever
measured again, so the difference is watching alone: reading a clock twice a call, and agreeing on
times now and then. Printed is the added time, the median of paired ratios with its 95 % interval.
The target is 0.5 % in all, of which half is for agreements.

python bench/collectives/watching.py     minutes; --short for a few seconds
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from forced_suite import ON_HOSTS, ROOT

import fairlead as fl
from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.mpi_builds import find
from fairlead.act.plan.collectives import write_collectives_plan
from fairlead.decide.paired_median import paired_gain
from fairlead.model.collective_rule import CollectiveRule, DriftRule, TunedCollectives
from fairlead.watch.collective_drift import drift_counts

PROGRAM = ROOT / "bench" / "collectives" / "repeated.cpp"
HOSTS = ("host0", "host1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="3 rounds of 2000 calls")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--bytes", type=int, nargs="+", default=[64, 16384])
    options = parser.parse_args()
    if options.short:
        options.rounds, options.calls, options.bytes = 3, 2000, [64]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "repeated"
        subprocess.run(["mpicxx.openmpi", "-O1", "-o", program, PROGRAM], check=True)
        plans = {
            is_watched: plan(folder / str(is_watched), is_watched) for is_watched in (False, True)
        }
        for num_bytes in options.bytes:
            times = rounds(program, plans, options.rounds, options.calls, num_bytes)
            print(told(plans[True], times, options.calls, num_bytes), flush=True)


def plan(folder: Path, is_watched: bool) -> Path:
    """Every allreduce follows a schedule."""
    near = np.eye(len(HOSTS), dtype=bool)
    network = fl.Network(HOSTS, np.where(near, 0.0, 5e-6), np.where(near, np.inf, 1e9))
    rules = (CollectiveRule("allreduce", "doubling", 1, None),)
    drift = DriftRule(max_ratio=1e9) if is_watched else None
    write_collectives_plan(folder, network, TunedCollectives(len(HOSTS), rules, drift=drift))
    return folder


def rounds(
    program: Path, plans: dict[bool, Path], num_rounds: int, num_calls: int, num_bytes: int
) -> np.ndarray:
    """Seconds of a call, shape (rounds, 2): not watched, watched. The order alternates."""
    times_s = np.empty((num_rounds, 2))
    for number in range(num_rounds):
        for is_watched in (False, True) if number % 2 else (True, False):
            times_s[number, int(is_watched)] = call_s(
                program, plans[is_watched], num_calls, num_bytes
            )
    return times_s


def call_s(program: Path, plan: Path, num_calls: int, num_bytes: int) -> float:
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    launcher = detect("mpirun.openmpi")
    words = (str(ON_HOSTS), ",".join(HOSTS), str(program), str(num_calls), str(num_bytes))
    env = {"LD_PRELOAD": str(find(launcher).intercept), "FAIRLEAD_PLAN": str(plan)}
    spec = LaunchSpec(
        words, len(HOSTS), env=env | {"FAIRLEAD_RECORD": str(plan)},
        launcher_args=("--oversubscribe", "--mca", "mpi_yield_when_idle", "1"),
    )  # fmt: skip
    done = subprocess.run(
        launcher.prepare_command(spec, plan), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return float(done.stdout.split()[-1])


def told(plan: Path, times_s: np.ndarray, num_calls: int, num_bytes: int) -> str:
    gain = paired_gain(times_s[:, 1], times_s[:, 0])
    counts = drift_counts(plan)
    windows = 0 if counts is None else counts.windows
    return (
        f"allreduce of {num_bytes} bytes, {np.median(times_s[:, 0]) * 1e6:.2f} us: watching adds "
        f"{-gain.ratio:.2%} [{-gain.high_ratio:.2%}, {-gain.low_ratio:.2%}], {len(times_s)} rounds "
        f"of {num_calls} calls; {windows} agreements in the last"
    )


if __name__ == "__main__":
    main()
