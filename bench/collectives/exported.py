#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the exported tuning alone is worth, without a preload library: order and rules, in SimGrid.

`fairlead tune --export` chooses among the MPI's own algorithms, and between the launcher's order of
hosts and that of a ring. So here each library's selector runs on the hosts in their hidden order,
and then each of the algorithms that its tuning file can name runs in both orders, as SMPI has them.
The fastest in the one order that is faster on average is what the export gives. What has been timed
is kept in `recorded/exported.json`, and not timed again; `--again` does.

python bench/collectives/exported.py     64 hosts in racks, minutes; --short for 8 hosts
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from clouds import CLOUDS, platform_of
from peers import cell
from recording import FOLDER, Recording
from rich.console import Console
from rich.table import Table
from simulating import Call, Simulation, built

import fairlead as fl
from fairlead.act.tuning_files import TUNING_FILES
from fairlead.flows.tune.native import ring_order
from fairlead.units import format_size

PATH = FOLDER / "exported.json"
HOW = "bench/collectives/exported.py, SimGrid 3.32; seconds by order, library and algorithm"

SIZE_BYTES = 8 * 2**20
LEAST_RATIO = 4.0
"""Wanted on racks: the library's own time over that with the exported tuning."""

OF_SMPI: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("ompi", "allgather"): {
        **{"bruck": "bruck", "recursive_doubling": "rdb", "ring": "NTSLR"},
        **{"neighbor": "ompi_neighborexchange"},
    },
    ("ompi", "allreduce"): {
        **{"nonoverlapping": "redbcast", "recursive_doubling": "rdb", "ring": "lr"},
        **{"rabenseifner": "rab_rdb"},
    },
    ("mpich", "allgather"): {"brucks": "bruck", "recursive_doubling": "rdb", "ring": "NTSLR"},
    ("mpich", "allreduce"): {"recursive_doubling": "rdb", "reduce_scatter_allgather": "rab_rdb"},
}
"""SMPI's name of each algorithm that a library's tuning file can name.

What SMPI calls a ring of an allgather sends each block straight to all; NTSLR goes from neighbour
to neighbour, as both libraries do.
"""

ORDERS = ("given", "ring")

Times = Mapping[tuple[str, str], float | None]
"""Seconds by order and algorithm; the algorithm "own" is the library's choice."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="8 hosts")
    parser.add_argument("--cloud", default="racks", choices=CLOUDS)
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--again", action="store_true", help="also what was timed before")
    options = parser.parse_args()
    num_hosts = 8 if options.short else options.hosts
    network = CLOUDS[options.cloud](num_hosts, 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording = Recording(folder / PATH.name if options.short else PATH, HOW, options.again)
        where = f"{options.cloud}/{num_hosts}/plain"
        simulations = simulations_of(network, folder)
        for library in TUNING_FILES:
            found = {
                operation: timed(recording, simulations, where, library, operation)
                for of_library, operation in OF_SMPI
                if of_library == library
            }
            Console(width=120).print(table(f"{where}, {library}", found))


def simulations_of(network: fl.Network, folder: Path) -> dict[str, Simulation]:
    """The same cloud with the ranks on the hosts in both orders."""
    hosts = range(network.num_hosts)
    as_given = fl.Placement(network.hosts, np.arange(network.num_hosts), "launcher")
    simulations = {}
    for name, order in zip(ORDERS, (hosts, ring_order(network, as_given)), strict=True):
        of_order = folder / name
        of_order.mkdir()
        platform = platform_of(network, of_order, order)
        simulations[name] = Simulation(built("timed"), platform, "plain")
    return simulations


def timed(
    recording: Recording,
    simulations: Mapping[str, Simulation],
    where: str,
    library: str,
    operation: str,
) -> Times:
    """The library's own choice and each of its algorithms, in both orders."""
    call = Call(operation, SIZE_BYTES)
    row = cell(where, call)
    settings = {"own": f"smpi/coll-selector:{library}"} | {
        algorithm: f"smpi/{operation}:{of_smpi}"
        for algorithm, of_smpi in OF_SMPI[library, operation].items()
    }
    times_s = {}
    for order, simulation in simulations.items():
        for algorithm, setting in settings.items():
            name = f"{order} {library} {algorithm}"
            if name not in recording.row(row):
                found = simulation.times_s("native", [call], [setting])
                recording.add(row, name, found[call])
            times_s[order, algorithm] = recording.row(row)[name]
    return times_s


def table(title: str, found: Mapping[str, Times]) -> Table:
    """Times in milliseconds; the best algorithm in the order that the export takes."""
    order = exported_order(list(found.values()))
    shown = Table(title=f"{title}, hosts in the order: {order}")
    for column in ("operation", "size", "own choice, ms", "order alone, ms", "exported, ms"):
        shown.add_column(column, justify="right")
    for column in ("algorithm", "times as fast", "wanted"):
        shown.add_column(column, justify="right")
    for operation, times_s in found.items():
        own_s, ordered_s = times_s["given", "own"], times_s[order, "own"]
        algorithm, best_s = best_in(times_s, order)
        if own_s is None or ordered_s is None:
            raise SystemExit(f"{operation}: the library's own choice failed")
        shown.add_row(
            *(operation, format_size(SIZE_BYTES)),
            *(f"{1e3 * time_s:.4g}" for time_s in (own_s, ordered_s, best_s)),
            *(algorithm, f"{own_s / best_s:.2f}", f"{LEAST_RATIO:g}"),
        )
    return shown


def exported_order(found: Sequence[Times]) -> str:
    """As the export has it: the order that saves more on average over all calls."""
    return min(
        ORDERS, key=lambda order: np.mean([np.log(best_in(times, order)[1]) for times in found])
    )


def best_in(times_s: Times, order: str) -> tuple[str, float]:
    """The fastest algorithm in an order, and its time."""
    working = {
        algorithm: time_s
        for (of_order, algorithm), time_s in times_s.items()
        if of_order == order and time_s is not None
    }
    name = min(working, key=lambda algorithm: working[algorithm])
    return name, working[name]


if __name__ == "__main__":
    main()
