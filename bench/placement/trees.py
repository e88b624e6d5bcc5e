#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`optimize` compared with SharedMap on declared trees of hosts, in turns, by one thread each.

python bench/placement/trees.py       about a minute; --large adds 100,000 tasks, --short: seconds

SharedMap is a peer where it is installed (pip install --group bench).

Source: Schulz, Woydt 2025, Shared-memory hierarchical process mapping.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import core_clock
import numpy as np
from instances import COSTS, Edges, both_ways, power_law, stencil, with_weight
from peers import HostOfTask, optimized

import fairlead as fl

try:
    import chszlablib
except ImportError:  # in the dependency group "bench"
    chszlablib = None

Method = Callable[["Instance", int], HostOfTask]


class Instance(NamedTuple):
    """Traffic, and a tree whose racks and pods hold equally many hosts."""

    name: str
    traffic: fl.Traffic
    slots: int
    hosts_per_rack: int
    hosts_per_pod: int

    @property
    def num_hosts(self) -> int:
        return self.traffic.num_ranks // self.slots

    @property
    def tree(self) -> fl.HostTree:
        host = np.arange(self.num_hosts)
        groups = np.stack([host // self.hosts_per_rack, host // self.hosts_per_pod])
        return fl.HostTree([f"h{index}" for index in host], groups, np.array(COSTS))

    def value(self, host_of_task: HostOfTask) -> float:
        """Weight times cost over all directed pairs of tasks; checks the slots."""
        if np.bincount(host_of_task).max() > self.slots:
            raise ValueError(f"{self.name}: more tasks on a host than its slots")
        pairs = self.traffic.bytes.tocoo()
        src, dst = host_of_task[pairs.row], host_of_task[pairs.col]
        return float(pairs.data @ self.tree.cost(src, dst))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the first instance only")
    parser.add_argument("--large", action="store_true", help="100,000 tasks on 10,000 hosts too")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limits", type=float, nargs="+", metavar="SECONDS")
    parser.add_argument(
        "--core-clock",
        action="store_true",
        help="on a busy machine: limits in seconds of the core, not of the clock",
    )
    options = parser.parse_args()
    if options.core_clock:
        core_clock.start_again()
    instances = make_instances(options.large)[: 1 if options.short else None]
    print(f"{'':24} {'':16} {'of blocked':>10} {'per message':>11} {'CPU s':>7} {'wall s':>7}")
    for instance in instances:
        num_tasks = instance.traffic.num_ranks
        limits_s = options.limits or ((0.5, 2.0) if num_tasks < 50_000 else (10.0, 20.0))
        methods = {f"optimize {limit_s:g} s": optimize(limit_s) for limit_s in limits_s}
        if chszlablib is not None:
            methods |= {"SharedMap fast": shared_map("fast")}
        for seed in range(options.seeds):
            for name, method in methods.items():
                show(instance, name, method, seed)


def make_instances(is_large: bool) -> list[Instance]:
    """The grid by which the multisection was chosen first, then others."""
    wanted = [
        ("stencil 16x16x16", stencil(16, 16, 16), 8, 8, 64),
        ("stencil 24x18x20", stencil(24, 18, 20), 12, 6, 36),
        ("stencil 64x64", stencil(64, 64), 8, 4, 16),
        ("torus 15x16x18", torus(15, 16, 18), 10, 12, 72),
        ("power law 4096", power_law(4096), 8, 8, 64),
    ]
    if is_large:
        wanted.append(("stencil 50x50x40", stencil(50, 50, 40), 10, 20, 200))
    return [
        Instance(name, both_ways(int(edges[:, :2].max()) + 1, edges), *shape)
        for name, edges, *shape in wanted
    ]


def torus(*shape: int) -> Edges:
    task = np.arange(np.prod(shape)).reshape(shape)
    pairs = [
        np.column_stack([task.ravel(), np.roll(task, -1, axis).ravel()])
        for axis in range(len(shape))
    ]
    return with_weight(np.concatenate(pairs))


def show(instance: Instance, name: str, method: Method, seed: int) -> None:
    begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
    host_of_task = method(instance, seed)
    wall_s, cpu_s = time.perf_counter() - begin_s, time.process_time() - begin_cpu_s
    value = instance.value(host_of_task)
    blocked = instance.value(np.arange(instance.traffic.num_ranks) // instance.slots)
    per_message = value / instance.traffic.bytes.sum()
    print(
        f"{instance.name:24} {name:16} {value / blocked:10.4f} {per_message:11.4f} "
        f"{cpu_s:7.2f} {wall_s:7.2f}",
        flush=True,
    )


def optimize(time_limit_s: float) -> Method:
    def place(instance: Instance, seed: int) -> HostOfTask:
        cluster = fl.Cluster.uniform(instance.tree.hosts, instance.slots)
        return optimized(instance.traffic, instance.tree, cluster, seed, time_limit_s).host_of_rank

    return place


def shared_map(mode: str) -> Method:
    """Hosts as its processing elements, each with as many tasks as there are slots."""

    def place(instance: Instance, seed: int) -> HostOfTask:
        weights = instance.traffic.bytes.tocsr()
        graph = chszlablib.Graph.from_csr(
            weights.indptr.astype(np.int64),
            weights.indices.astype(np.int32),
            edge_weights=weights.data.astype(np.int64),
        )
        hosts, pods = instance.hosts_per_rack, instance.hosts_per_pod
        levels = [hosts, pods // hosts, instance.num_hosts // pods]
        found = chszlablib.Decomposition.process_map(
            graph, levels, [int(cost) for cost in COSTS[1:]],
            mode=mode, imbalance=0.0, threads=1, seed=seed,
        )  # fmt: skip
        return np.asarray(found.assignment, dtype=np.int64)

    return place


if __name__ == "__main__":
    main()
