#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near to the best known `optimize` and its peers come, and in how many seconds of one core.

python bench/placement/placement.py       about three minutes; --short for some seconds
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Container, Iterable
from typing import NamedTuple

import core_clock
import numpy as np
from best_known import LEAST_GAIN, BestKnown
from instances import Instance, make_instances
from peers import Method, make_peers, optimize

from fairlead.flows.compare.statistics import Interval, mean_interval

WANTED = {
    64: {0.3: 1.003},
    256: {0.2: 1.07, 3.0: 1.02},
    512: {5.0: 1.03},
    1024: {0.5: 1.10, 5.0: 1.03},
    4096: {2.0: 1.20, 20.0: 1.05},
}
"""Ratio that `optimize` is to reach by tasks and seconds of one core."""

LATE_RATIO = 1.1
"""Seconds over the limit that still count as kept."""

MOST_TASKS_FOR_MT_KAHYPAR = 1024
"""4096 tasks on a graph of 512 hosts were not done after two minutes of a core."""

SHORTEST_LIMIT_S = 0.001


class Run(NamedTuple):
    """What one method made of one instance."""

    method: str
    instance: Instance
    seed: int
    value: float
    cpu_s: float


def main() -> None:
    options = read_options()
    if options.core_clock:
        core_clock.start_again()
    sizes = [options.size] if options.size else [64, 256] if options.short else list(WANTED)
    instances = make_instances(sizes)
    best_known = BestKnown(instances)
    peers = make_peers()
    for peer in peers.values():
        peer(make_instances([64])[0], 0)  # loads its library
    for size in sizes:
        of_size = [instance for instance in instances if instance.num_tasks == size]
        limits_s = list(WANTED[size])[: 1 if options.short else None]
        runs = list(run_all(of_size, limits_s, peers, options, best_known))
        for instance in of_size if options.long else ():
            run(f"optimize {options.long:g} s", optimize(options.long), instance, 0, best_known)
        report(size, runs, best_known)
        report_behind(runs, peers, best_known)
    best_known.report(options.update)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="64 and 256 tasks, least limits")
    parser.add_argument("--size", type=int, choices=WANTED, help="only so many tasks")
    parser.add_argument("--seeds", type=int, default=1, help="repeats, for an interval")
    parser.add_argument(
        "--core-clock",
        action="store_true",
        help="on a busy machine: limits in seconds of the core, not of the clock",
    )
    parser.add_argument("--update", action="store_true", help="keep what beats the best known")
    parser.add_argument("--long", type=float, metavar="SECONDS", help="also search this long")
    return parser.parse_args()


def run_all(
    instances: list[Instance],
    limits_s: Iterable[float],
    peers: dict[str, Method],
    options: argparse.Namespace,
    best_known: BestKnown,
) -> Iterable[Run]:
    """Every method on every instance, and `optimize` also in the time that each peer took."""
    for seed in range(options.seeds):
        for instance in instances:
            for name, peer in peers.items():
                if name == "Mt-KaHyPar" and instance.num_tasks > MOST_TASKS_FOR_MT_KAHYPAR:
                    continue
                done = run(name, peer, instance, seed, best_known)
                yield done
                if name != "blocked":
                    limit_s = max(done.cpu_s, SHORTEST_LIMIT_S)
                    label = f"optimize, time of {name}"
                    yield run(label, optimize(limit_s), instance, seed, best_known)
            for limit_s in limits_s:
                label = f"optimize {limit_s:g} s"
                yield run(label, optimize(limit_s), instance, seed, best_known)


def run(label: str, method: Method, instance: Instance, seed: int, best_known: BestKnown) -> Run:
    """Seconds are the processor's, so that other programs hardly matter."""
    begin_s = time.process_time()
    host_of_task = method(instance, seed)
    cpu_s = time.process_time() - begin_s
    best_known.offer(instance, host_of_task.tolist(), label, cpu_s, seed)
    return Run(label, instance, seed, instance.value(host_of_task), cpu_s)


def report(size: int, runs: list[Run], best_known: BestKnown) -> None:
    """A line for each method: geometric mean over the instances, mean over the seeds."""
    num_instances = len({run.instance.name for run in runs})
    print(f"\n{size} tasks, {num_instances} instances: value over the best known")
    print(f"{'':40} {'ratio':>7} {'95 % interval':>17} {'CPU s':>8}  wanted")
    for method in dict.fromkeys(run.method for run in runs):
        ratio, cpu_s = summary(method, runs, best_known)
        interval = "" if np.isnan(ratio.low) else f"{ratio.low:.4f} .. {ratio.high:.4f}"
        result = ""
        for limit_s, wanted in WANTED[size].items():
            if method == f"optimize {limit_s:g} s":
                result = (
                    f"{wanted:g} in {limit_s:g}: {verdict(ratio.value, cpu_s, wanted, limit_s)}"
                )
        print(f"{method:40} {ratio.value:7.4f} {interval:>17} {cpu_s:8.3f}  {result}")


def verdict(ratio: float, cpu_s: float, wanted: float, limit_s: float) -> str:
    if cpu_s > limit_s * LATE_RATIO:
        return "took longer"
    return "reached" if ratio <= wanted else f"MISSED by {ratio - wanted:.4f}"


def summary(method: str, runs: list[Run], best_known: BestKnown) -> tuple[Interval, float]:
    """Ratio over the seeds, and seconds for one instance."""
    by_seed: dict[int, list[float]] = {}
    for run in runs:
        if run.method == method:
            ratio = run.value / best_known.value(run.instance)
            by_seed.setdefault(run.seed, []).append(ratio)
    means = [float(np.exp(np.mean(np.log(ratios)))) for ratios in by_seed.values()]
    times_s = [run.cpu_s for run in runs if run.method == method]
    return mean_interval(means), float(np.mean(times_s))


def report_behind(runs: list[Run], peers: Container[str], best_known: BestKnown) -> None:
    """Where `optimize` is worse: a run than one of its own starts, or than a peer in equal time."""
    behind = []
    for peer in dict.fromkeys(run.method for run in runs if run.method in peers):
        mine = f"optimize, time of {peer}"
        if peer != "blocked":
            ahead = summary(peer, runs, best_known)[0].value
            if summary(mine, runs, best_known)[0].value > ahead * (1 + LEAST_GAIN):
                behind.append(f"{mine}: on the geometric mean")
        for theirs in (run for run in runs if run.method == peer):
            for ours in runs:
                same = (ours.instance, ours.seed) == (theirs.instance, theirs.seed)
                counts = ours.method == mine if peer == "Mt-KaHyPar" else True
                if not (same and counts and ours.method.startswith("optimize")):
                    continue
                if ours.value > theirs.value * (1 + LEAST_GAIN):
                    ratio = ours.value / theirs.value
                    where = f"{ours.instance.name}, seed {ours.seed}"
                    behind.append(f"{ours.method}: {ratio:.4f} times {peer} on {where}")
    print("\n".join(["optimize is behind:", *behind] if behind else ["optimize is behind nowhere"]))


if __name__ == "__main__":
    main()
