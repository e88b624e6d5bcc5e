#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""100,000 tasks of a 3-D stencil on a tree of 10,000 hosts: value, seconds, memory.

python bench/placement/large.py        about a minute; --short for a tenth of it
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from instances import COSTS, both_ways, stencil

import fairlead as fl

SHAPE = (50, 50, 40)
SHORT_SHAPE = (25, 20, 20)

BRICKS = ((10, 10, 20), (5, 10, 4), (5, 2, 1))
"""Tasks of a pod, of a rack and of a host in a cut of the grid by hand."""

SHORT_BRICKS = ((5, 20, 20), *BRICKS[1:])
SLOTS = 10
HOSTS_PER_RACK = 20
HOSTS_PER_POD = 200

MOST_S = 60.0
MOST_BYTES = 2 * 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="10,000 tasks on 1,000 hosts")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="default: by the tasks")
    options = parser.parse_args()
    shape = SHORT_SHAPE if options.short else SHAPE
    num_tasks = int(np.prod(shape))
    traffic = both_ways(num_tasks, stencil(*shape))
    tree = racks_and_pods(num_tasks // SLOTS)
    before_bytes = peak_bytes()
    begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
    placement = fl.place(
        traffic,
        tree,
        fl.Cluster.uniform(tree.hosts, SLOTS),
        "optimize",
        objective="sum",
        time_limit_s=options.limit,
    )
    elapsed_s, cpu_s = time.perf_counter() - begin_s, time.process_time() - begin_cpu_s
    bricks = cut(shape, SHORT_BRICKS if options.short else BRICKS)
    reached = value(traffic, tree, placement.host_of_rank)
    print(f"{num_tasks} tasks on {tree.num_hosts} hosts, {traffic.bytes.nnz} directed pairs")
    ratio = reached / value(traffic, tree, np.arange(num_tasks) // SLOTS)
    print(f"over blocked        {ratio:8.4f}  {verdict(ratio <= 1)}, wanted: not behind")
    print(f"over bricks by hand {reached / value(traffic, tree, bricks):8.4f}")
    print(
        f"seconds             {elapsed_s:8.1f}  {verdict(elapsed_s < MOST_S)}, wanted: below "
        f"{MOST_S:g}; of processors {cpu_s:.1f}"
    )
    print(
        f"peak memory, MiB    {peak_bytes() / 2**20:8.0f}  {verdict(peak_bytes() < MOST_BYTES)}, "
        f"wanted: below {MOST_BYTES / 2**20:g}; {before_bytes / 2**20:.0f} before placing"
    )


def racks_and_pods(num_hosts: int) -> fl.HostTree:
    """Racks of 20 hosts, pods of 10 racks."""
    host = np.arange(num_hosts)
    groups = np.stack([host // HOSTS_PER_RACK, host // HOSTS_PER_POD])
    return fl.HostTree([f"h{index}" for index in host], groups, np.array(COSTS))


def cut(shape: tuple[int, ...], bricks: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Host of each task where every brick is cut into equal smaller ones."""
    inside = np.indices(shape).reshape(len(shape), -1)
    host_of_task, outer = np.zeros(inside.shape[1], dtype=np.int64), shape
    for brick in bricks:
        counts = np.floor_divide(outer, brick)
        which = inside // np.array(brick)[:, None]
        inside = inside % np.array(brick)[:, None]
        host_of_task = host_of_task * counts.prod() + np.ravel_multi_index(tuple(which), counts)
        outer = brick
    return host_of_task


def value(traffic: fl.Traffic, tree: fl.HostTree, host_of_task: np.ndarray) -> float:
    """Weight times cost over all directed pairs of tasks; checks the slots."""
    if np.bincount(host_of_task).max() > SLOTS:
        raise ValueError("more tasks on a host than its slots")
    pairs = traffic.bytes.tocoo()
    return float(pairs.data @ tree.cost(host_of_task[pairs.row], host_of_task[pairs.col]))


def peak_bytes() -> int:
    """The most memory this process ever had; in KiB on Linux."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def verdict(is_reached: bool) -> str:
    return "reached" if is_reached else "MISSED"


if __name__ == "__main__":
    main()
