#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How `optimize` keeps its time limit, and the time of Scotch, where every task communicates with
every other.

python bench/placement/limits.py       some seconds; --short for fewer tasks
"""

from __future__ import annotations

import argparse
import time

from instances import SLOTS, all_to_all, both_ways, noisy_costs

import fairlead as fl
from fairlead.decide.placement import OBJECTIVES

LIMITS_S = (0.05, 0.1, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="128 tasks only")
    options = parser.parse_args()
    print(f"{'tasks':>6} {'objective':24} {'limit s':>8} {'wall s':>8} {'CPU s':>8}")
    for num_tasks in (128,) if options.short else (128, 512, 1024):
        traffic = both_ways(num_tasks, all_to_all(num_tasks))
        cost = noisy_costs(num_tasks // SLOTS, num_tasks)
        cluster = fl.Cluster.uniform([f"h{host}" for host in range(len(cost))], SLOTS)
        network = fl.Network(cluster.hosts, cost * 1e-6, 1e9 / cost)
        begin_cpu_s = time.process_time()
        fl.place(traffic, network, cluster, "scotch-best", objective="sum")
        scotch_s = time.process_time() - begin_cpu_s
        print(f"{num_tasks:6} {'Scotch':24} {'':8} {'':8} {scotch_s:8.3f}")
        for objective in OBJECTIVES:
            for limit_s in LIMITS_S:
                begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
                fl.place(
                    traffic,
                    network,
                    cluster,
                    "optimize",
                    objective=objective,
                    time_limit_s=limit_s,
                    num_threads=1,
                )
                wall_s = time.perf_counter() - begin_s
                cpu_s = time.process_time() - begin_cpu_s
                print(f"{num_tasks:6} {objective:24} {limit_s:8.2f} {wall_s:8.2f} {cpu_s:8.2f}")


if __name__ == "__main__":
    main()
