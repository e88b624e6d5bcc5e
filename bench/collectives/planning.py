#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicted time over the lower bound, and the time of planning, on the three clouds.

python bench/collectives/planning.py                     some minutes; --short for 16 hosts
python bench/collectives/planning.py --hosts 64 --operations bcast reduce --methods forest cmpi
"""

from __future__ import annotations

import argparse
import time

from clouds import CLOUDS
from simulating import Call

import fairlead as fl

SIZES_BYTES = {"8 MiB": 8 * 2**20, "1 MiB": 2**20, "64 KiB": 2**16}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="16 hosts, one size")
    parser.add_argument("--hosts", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--clouds", nargs="+", choices=list(CLOUDS), default=list(CLOUDS))
    parser.add_argument("--operations", nargs="+", default=list(fl.collectives.OPERATIONS))
    parser.add_argument("--methods", nargs="+", default=["fastest"], metavar="METHOD")
    parser.add_argument("--seed", type=int, default=1, help="of the clouds")
    options = parser.parse_args()
    hosts = [16] if options.short else options.hosts
    sizes = dict(list(SIZES_BYTES.items())[: 1 if options.short else None])
    methods = ", ".join(options.methods)
    print(f"Predicted time over the lower bound ({methods}); seconds of planning in brackets")
    for num_hosts in hosts:
        networks = {name: CLOUDS[name](num_hosts, options.seed) for name in options.clouds}
        columns = [f"{name} {size}" for name in networks for size in sizes]
        print(f"\n{num_hosts} hosts      " + " ".join(f"{column:>26}" for column in columns))
        longest_s = 0.0
        for operation in options.operations:
            cells = []
            for network in networks.values():
                for size_bytes in sizes.values():
                    cell, took_s = planned(operation, network, size_bytes, options.methods)
                    longest_s = max(longest_s, took_s)
                    cells.append(f"{cell:>26}")
            print(f"{operation:14} " + " ".join(cells), flush=True)
        print(f"Longest planning: {longest_s:.2f} s of CPU")


def planned(
    operation: str, network: fl.Network, size_bytes: int, methods: list[str]
) -> tuple[str, float]:
    """The best of the methods as a cell of the table, and the CPU seconds of planning."""
    message_bytes = Call(operation, size_bytes).message_bytes(network.num_hosts)
    known = (*fl.collectives.methods_for(operation), "fastest")
    begun_s = time.process_time()
    plans = [
        fl.collectives.plan(operation, network, message_bytes, method=method)
        for method in methods
        if method in known
    ]
    took_s = time.process_time() - begun_s
    if not plans:
        return "-", took_s
    best = min(plans, key=lambda plan: plan.predicted_s)
    ratio = best.predicted_s / best.lower_bound_s
    return f"{ratio:.3f} {best.method} ({took_s:.2f})", took_s


if __name__ == "__main__":
    main()
