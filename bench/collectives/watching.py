#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does watching collectives for drift cost?

Ranks on invented hosts make the same allreduce again and again, by the same schedule, with and
without `max_drift_ratio` in the plan, in turns. The drift allowed is so large that nothing is ever
measured again, so the difference is watching alone: a counter, reading the clock at some calls, and
agreeing on times now and then. The target is 0.5 % in all. Printed are

- the added time of the program, the median of paired ratios with its 95 % interval. On a busy
  machine single runs differ by more than what is looked for; so also
- what the library does at every call, timed by itself in a loop (watching.cpp), and
- what the agreements of the runs took, from the library's own record; as parts of a call's time.

python bench/collectives/watching.py     minutes; --short for a few seconds
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from forced_suite import ON_HOSTS, ROOT

import fairlead as fl
from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.mpi_builds import find
from fairlead.act.plan.collectives import write_collectives_plan
from fairlead.decide.paired_median import paired_gain
from fairlead.model.collective_rule import CollectiveRule, DriftRule, TunedCollectives
from fairlead.watch.collective_drift import DriftCounts, drift_counts

BENCH = ROOT / "bench" / "collectives"
INTERCEPT = ROOT / "mpi" / "intercept"
HOSTS = ("host0", "host1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a round of 1200 calls")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--bytes", type=int, nargs="+", default=[64, 16384])
    options = parser.parse_args()
    if options.short:
        options.rounds, options.calls, options.bytes = 1, 1200, [64]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, loop = built(folder)
        plans = {
            is_watched: plan(folder / str(is_watched), is_watched) for is_watched in (False, True)
        }
        for num_bytes in options.bytes:
            found = rounds(program, plans, options.rounds, options.calls, num_bytes)
            print(summary(found, loop, options.calls, num_bytes), flush=True)


def built(folder: Path) -> tuple[Path, Path]:
    """The program, and the loop of what is done at every call."""
    program, loop = folder / "repeated", folder / "watching"
    compile_it = (
        *("mpicxx.openmpi", "-std=c++20", "-O2", "-DOMPI_SKIP_MPICXX=1"),
        *(f"-I{INTERCEPT}", f"-I{ROOT / 'core' / 'include'}"),
    )
    subprocess.run([*compile_it, "-o", program, BENCH / "repeated.cpp"], check=True)
    parts = (BENCH / "watching.cpp", INTERCEPT / "collectives" / "watched_times.cpp")
    subprocess.run([*compile_it, "-o", loop, *parts], check=True)
    return program, loop


def plan(folder: Path, is_watched: bool) -> Path:
    """Every allreduce follows a schedule."""
    near = np.eye(len(HOSTS), dtype=bool)
    network = fl.Network(HOSTS, np.where(near, 0.0, 5e-6), np.where(near, np.inf, 1e9))
    rules = (CollectiveRule("allreduce", "doubling", 1, None),)
    drift = DriftRule(max_ratio=1e9) if is_watched else None
    write_collectives_plan(folder, network, TunedCollectives(len(HOSTS), rules, drift=drift))
    return folder


class Rounds(NamedTuple):
    """Runs of the program in turns.

    Attributes:
        times_s: Seconds of a call, shape (rounds, 2): not watched, watched.
        counts: What the library did in each of those watched.
    """

    times_s: np.ndarray
    counts: list[DriftCounts]


def rounds(
    program: Path, plans: dict[bool, Path], num_rounds: int, num_calls: int, num_bytes: int
) -> Rounds:
    """The order alternates."""
    found = Rounds(np.empty((num_rounds, 2)), [])
    for number in range(num_rounds):
        for is_watched in (False, True) if number % 2 else (True, False):
            found.times_s[number, int(is_watched)] = call_s(
                program, plans[is_watched], num_calls, num_bytes
            )
        found.counts.append(drift_counts(plans[True]) or DriftCounts())
    return found


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


def summary(found: Rounds, loop: Path, num_calls: int, num_bytes: int) -> str:
    times_s, counts = found
    native_s = float(np.median(times_s[:, 0]))
    gain = paired_gain(times_s[:, 1], times_s[:, 0])
    each_s = [each.agreements_s / each.calls for each in counts if each.calls > 0]
    agreement_s = [each.agreements_s / each.windows for each in counts if each.windows > 0]
    lines = [
        f"allreduce of {num_bytes} bytes, {native_s * 1e6:.2f} us, {len(times_s)} rounds of "
        f"{num_calls} calls: watched programs take {-gain.ratio:.2%} "
        f"[{-gain.high_ratio:.2%}, {-gain.low_ratio:.2%}] longer"
    ]
    if each_s:
        least_s = float(np.median(agreement_s))
        lines += [
            f"  at every call: {at_every_call(loop, native_s, least_s)}",
            f"  agreements: {np.median(each_s) * 1e9:.1f} ns a call, "
            f"{np.median(each_s) / native_s:.2%}, each {least_s * 1e6:.1f} us",
        ]
    return "\n".join(lines)


def at_every_call(loop: Path, native_s: float, agreement_s: float) -> str:
    """What counting and timing take, with agreements as long as those of the runs."""
    words = [loop, str(native_s), str(agreement_s), "20000"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    watched_s, timed_s = map(float, done.stdout.split())
    return (
        f"{watched_s * 1e9:.1f} ns, {watched_s / native_s:.2%}; timing one call takes "
        f"{timed_s * 1e9:.0f} ns"
    )


if __name__ == "__main__":
    main()
