#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much memory the simulation of a large job takes: a ring of 60,000 ranks on 3,750 nodes."""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

import fairlead as fl

NEIGHBOURS = 6
MESSAGES = 10
MESSAGE_BYTES = 1024
SOCKETS, CORES = 4, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a tenth of the ranks")
    num_nodes = 375 if parser.parse_args().short else 3750
    num_ranks = num_nodes * SOCKETS * CORES
    machine = fl.Machine(nodes=num_nodes, sockets=SOCKETS, cores=CORES)
    workload = fl.Workload("ring", [fl.Job.from_traffic(ring(num_ranks), 1.0, "ring")], machine)
    table = Table(title=f"{num_ranks} ranks on {num_nodes} nodes, one process")
    for column in ("method", "waiting, s", "longest queue", "core s", "peak memory after it, MiB"):
        table.add_column(column, justify="left" if column == "method" else "right")
    table.add_row("before simulating", "", "", "", f"{peak_bytes() / 2**20:.0f}")
    for method in ("blocked", "cyclic", "spread"):
        placement = fl.place_jobs(workload, method)
        start_s = time.process_time()
        result = fl.simulate(workload, placement)
        cpu_s = time.process_time() - start_s
        queue = max(server.longest_queue for server in result.servers)
        table.add_row(
            method,
            f"{result.waiting_time_s:.6g}",
            f"{queue}",
            f"{cpu_s:.1f}",
            f"{peak_bytes() / 2**20:.0f}",
        )
    Console(width=100).print(table)


def ring(num_ranks: int) -> fl.Traffic:
    """Each rank sends to its next neighbours."""
    src = np.repeat(np.arange(num_ranks), NEIGHBOURS)
    dst = (src + np.tile(np.arange(1, NEIGHBOURS + 1), num_ranks)) % num_ranks
    sent = sp.csr_array(
        (np.full(len(src), float(MESSAGES)), (src, dst)), shape=(num_ranks, num_ranks)
    )
    return fl.Traffic(bytes=sent * MESSAGE_BYTES, messages=sent, run_time_s=1.0)


def peak_bytes() -> int:
    """The most memory this process ever had; in KiB on Linux."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
