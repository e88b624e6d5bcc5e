#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches long for the best known placements, also from what other programs find.

python bench/placement/search.py --duration 1h       slices of it add up: best_known.json is kept

One at a time: each writes the whole file.

Without this, `optimize` in the time that it is judged by would also have set the mark.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Mapping

import core_clock
from best_known import BestKnown
from instances import PATTERNS, Instance, make_instances
from peers import HostOfTask, Method, make_peers, optimized

import fairlead as fl
from fairlead.units import parse_duration

SLICES_S = {64: 5.0, 256: 30.0, 512: 60.0, 1024: 120.0, 4096: 300.0}
"""One run of `optimize` by tasks: many times what placement.py gives it."""

OTHERS_PER_SEED = ("Scotch", "Mt-KaHyPar")
"""Programs whose placements `optimize` goes on from, a third of the runs each."""

MOST_TASKS = {"Mt-KaHyPar": 1024}
"""More take it minutes of a core."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=duration, default=3600.0, metavar="TIME")
    parser.add_argument("--only", nargs="+", choices=PATTERNS, help="these instances")
    parser.add_argument("--slice", type=float, metavar="SECONDS", help="of one run of optimize")
    parser.add_argument(
        "--core-clock",
        action="store_true",
        help="on a busy machine: limits in seconds of the core, not of the clock",
    )
    parser.add_argument(
        "--short", action="store_true", help="0.1 s for each instance of 64 tasks; keeps nothing"
    )
    options = parser.parse_args()
    if options.core_clock:
        core_clock.start_again()
    sizes = {64} if options.short else {num_tasks for num_tasks, _ in PATTERNS.values()}
    instances = [
        instance
        for instance in make_instances(sorted(sizes))
        if options.only is None or instance.name in options.only
    ]
    best_known = BestKnown(instances)
    peers = make_peers()
    end_s = time.monotonic() + options.duration
    num_runs = 0
    turns = rounds(best_known, instances)
    for seed, instance in itertools.islice(turns, len(instances) if options.short else None):
        if time.monotonic() >= end_s:
            break
        slice_s = 0.1 if options.short else options.slice or SLICES_S[instance.num_tasks]
        begin_s = time.process_time()
        for found_by, host_of_task, cpu_s in search(instance, peers, seed, slice_s):
            best_known.offer(
                instance, host_of_task.tolist(), found_by, cpu_s, seed, is_searched=True
            )
        # On a busy machine a slice of the clock is much less of a core.
        best_known.count(instance, time.process_time() - begin_s)
        if not options.short:
            best_known.report(is_updating=True)
        num_runs += 1
    print(f"{num_runs} runs; best_known.json gives the time for which each instance was searched")


def duration(text: str) -> float:
    try:
        return parse_duration(text)
    except fl.InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def rounds(best_known: BestKnown, instances: list[Instance]) -> Iterator[tuple[int, Instance]]:
    """All instances in turn, each round with the next seed, from where the last search ended."""
    first = min(best_known.num_searches(instance) for instance in instances)
    for seed in itertools.count(first + 1):
        for instance in instances:
            if best_known.num_searches(instance) < seed:
                yield seed, instance


def search(
    instance: Instance, peers: Mapping[str, Method], seed: int, slice_s: float
) -> Iterator[tuple[str, HostOfTask, float]]:
    """One long run, from scratch or from another program's placement: its name, the placement, CPU
    seconds."""
    begin_s = time.process_time()
    names = [name for name in OTHERS_PER_SEED if name in peers]
    name = (["", *names])[seed % (len(names) + 1)]
    start = None
    if name and instance.num_tasks <= MOST_TASKS.get(name, instance.num_tasks):
        start = placed_by(peers[name], instance, seed)
        yield name, start.host_of_rank, time.process_time() - begin_s
    found = optimized(
        instance.traffic, instance.network, instance.cluster, seed, slice_s, start=start
    )
    found_by = f"optimize from {name}" if start else "optimize"
    yield found_by, found.host_of_rank, time.process_time() - begin_s


def placed_by(peer: Method, instance: Instance, seed: int) -> fl.Placement:
    return fl.Placement(instance.cluster.hosts, peer(instance, seed), method="peer")


if __name__ == "__main__":
    main()
