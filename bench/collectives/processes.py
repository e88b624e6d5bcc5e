#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The paper CMPI's distribution of an operation's time over the processes, simulated.

All processes begin a call at the same time, and each has done with it at another. The hosts are a
full mesh of uneven directed pairs (`mesh` in `clouds.py`), in SimGrid without SMPI's correction
factors; MPICH is SMPI's selector of that name, also in CMPI's groups. CMPI plans from what its
probe of single pairs sees.

python bench/collectives/processes.py       32 hosts, 1 MiB; --short for 8 hosts
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from clouds import mesh, pairs_only, platform_of
from paper import OPERATIONS
from rich.console import Console
from rich.table import Table
from simulating import Call, Simulation, built, written

import fairlead as fl
from fairlead.units import format_size, parse_size

BY_MPICH = ("smpi/coll-selector:mpich",)

QUANTILES = {"first": 0.0, "a quarter": 0.25, "half": 0.5, "three quarters": 0.75, "last": 1.0}
"""When that part of the processes has done."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="8 hosts, 64 KiB")
    parser.add_argument("--hosts", type=int, help="default: 32")
    parser.add_argument("--size", type=parse_size, help="default: 1MiB")
    options = parser.parse_args()
    num_hosts = options.hosts or (8 if options.short else 32)
    size_bytes = options.size or (64 * 2**10 if options.short else 2**20)
    table = Table(
        title=f"Milliseconds until processes have done, {num_hosts} hosts, "
        f"{format_size(size_bytes)}"
    )
    for column in ("operation", "by", *QUANTILES, "mean"):
        table.add_column(column, justify="left" if column in {"operation", "by"} else "right")
    with tempfile.TemporaryDirectory() as folder:
        network = mesh(num_hosts, 0)
        simulation = Simulation(built("timed"), platform_of(network, Path(folder)), "plain")
        for operation in OPERATIONS:
            for name, times_s in by_each(simulation, network, Call(operation, size_bytes)).items():
                cells_s = [*np.quantile(times_s, [*QUANTILES.values()]), times_s.mean()]
                table.add_row(operation, name, *(f"{1e3 * cell_s:.4g}" for cell_s in cells_s))
            table.add_section()
    Console(width=120).print(table)


def by_each(simulation: Simulation, network: fl.Network, call: Call) -> dict[str, np.ndarray]:
    """Seconds of each process, by the MPI, the paper and us."""
    found = {"MPICH": simulation.rank_times_s("native", call, BY_MPICH)}
    for name, seen, method in (
        ("CMPI", pairs_only(network), "cmpi"),
        ("ours", network, "fastest"),
    ):
        message_bytes = call.message_bytes(network.num_hosts)
        plan = fl.collectives.plan(call.operation, seen, message_bytes, method=method)
        file = written([plan], simulation.platform.with_name(f"{name}.json"))
        found[name] = simulation.rank_times_s(str(file), call, BY_MPICH)
    return found


if __name__ == "__main__":
    main()
