#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times what others have for each collective operation, on the clouds of `clouds.py`.

The selectors of four MPI libraries as SMPI has them, Bine trees, and every single algorithm that
SMPI has. The simulation is deterministic: one run each. What has been timed is kept in
`recorded/peers.json`, which `compared.py` reads, and not timed again; `--again` does. What takes
longer than `--limit` is printed and not kept, so that a longer limit times it.

python bench/collectives/peers.py     64 hosts, SMPI's factors left out; hours without the record
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

from clouds import CLOUDS, platform_of
from recording import FOLDER, Recording
from simulating import (
    CPU_LIMIT_S,
    MODELS,
    SIZES_BYTES,
    Call,
    OutOfTimeError,
    Simulation,
    built,
    calls_of,
)

from fairlead.units import parse_size

PATH = FOLDER / "peers.json"
HOW = "bench/collectives/peers.py, SimGrid 3.32; seconds by peer, null where it fails"

SELECTORS = ("mpich", "ompi", "mvapich2", "impi")

BINE = ("bine_small", "bine_large")

LIBRARIES = (*SELECTORS, *BINE)
"""Peers that are not one of SMPI's algorithms."""

ALGORITHMS = {
    "bcast": "NTSB NTSL NTSL_Isend SMP_binary SMP_binomial SMP_linear arrival_pattern_aware "
    "arrival_pattern_aware_wait arrival_scatter binomial_tree flattree flattree_pipeline "
    "mvapich2_inter_node mvapich2_intra_node mvapich2_knomial_intra_node ompi_pipeline "
    "ompi_split_bintree scatter_LR_allgather scatter_rdb_allgather",
    "reduce": "NTSL arrival_pattern_aware binomial flat_tree mvapich2_knomial mvapich2_two_level "
    "ompi_basic_linear ompi_binary ompi_binomial ompi_chain ompi_in_order_binary ompi_pipeline "
    "rab scatter_gather",
    "allreduce": "lr mvapich2_rs mvapich2_two_level ompi_ring_segmented rab rab1 rab2 rab_rdb rdb "
    "redbcast smp_binomial smp_binomial_pipeline smp_rdb smp_rsag smp_rsag_lr smp_rsag_rab",
    "allgather": "2dmesh 3dmesh GB NTSLR NTSLR_NB SMP_NTS bruck loosely_lr mvapich2_smp "
    "ompi_neighborexchange pair rdb rhv ring smp_simple spreading_simple",
    "scatter": "mvapich2_two_level_binomial mvapich2_two_level_direct ompi_basic_linear "
    "ompi_binomial ompi_linear_nb",
    "gather": "mvapich2_two_level ompi_basic_linear ompi_binomial ompi_linear_sync",
    "alltoall": "2dmesh 3dmesh basic_linear bruck mvapich2_scatter_dest pair pair_light_barrier "
    "pair_mpi_barrier pair_one_barrier rdb ring ring_light_barrier ring_mpi_barrier "
    "ring_one_barrier",
    "reduce_scatter": "mpich_noncomm mpich_pair mpich_rdb ompi_basic_recursivehalving "
    "ompi_butterfly ompi_ring",
    "barrier": "mpich_smp mvapich2_pair ompi_basic_linear ompi_bruck ompi_doublering "
    "ompi_recursivedoubling ompi_tree",
}
"""Every algorithm of SimGrid 3.32 but its selectors and those for two ranks."""

MAX_BINE_BYTES = 4 * 2**30
"""Our program for Bine trees keeps room for all blocks on every rank."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cloud", action="append", choices=CLOUDS, help="repeatable")
    parser.add_argument("--hosts", action="append", type=int, help="default: 64; repeatable")
    parser.add_argument("--model", action="append", choices=MODELS, help="default: plain")
    parser.add_argument("--operation", action="append", choices=ALGORITHMS, help="repeatable")
    parser.add_argument("--size", action="append", type=parse_size, help="repeatable")
    parser.add_argument("--selectors", action="store_true", help="without the single algorithms")
    parser.add_argument("--peer", action="append", help="such as 'smpi rab'; repeatable")
    parser.add_argument("--again", action="store_true", help="also what was timed before")
    parser.add_argument(
        "--limit", type=int, default=CPU_LIMIT_S, help="processor seconds of each simulation"
    )
    options = parser.parse_args()
    recording = Recording(PATH, HOW, options.again)
    with tempfile.TemporaryDirectory() as name:
        program = built("timed")
        for cloud, num_hosts, model in itertools.product(
            options.cloud or CLOUDS, options.hosts or [64], options.model or ["plain"]
        ):
            platform = platform_of(CLOUDS[cloud](num_hosts, 0), Path(name))
            simulation = Simulation(program, platform, model, options.limit)
            for operation in options.operation or ALGORITHMS:
                where = f"{cloud}/{num_hosts}/{model}"
                calls = calls_of(operation, options.size or SIZES_BYTES)
                peers = options.peer or (LIBRARIES if options.selectors else peers_of(operation))
                time_peers(recording, simulation, where, calls, peers)


def time_peers(
    recording: Recording,
    simulation: Simulation,
    where: str,
    of_operation: Sequence[Call],
    peers: Sequence[str],
) -> None:
    """Time the peers of calls of one operation where they were not yet, and keep what they took."""
    num_hosts = simulation.num_hosts
    for peer, call in itertools.product(peers, of_operation):
        row = cell(where, call)
        is_too_large = peer in BINE and bine_bytes(call, num_hosts) > MAX_BINE_BYTES
        if peer in recording.row(row) or is_too_large:
            continue
        method, settings = algorithm_of(call.operation, peer)
        # A run for each size: what fails at one may work at another.
        try:
            time_s = simulation.times_s(method, [call], settings)[call]
        except OutOfTimeError:
            print(row, peer, f"not within {simulation.cpu_limit_s} s", flush=True)
            continue
        recording.add(row, peer, time_s)
        print(row, peer, "failed" if time_s is None else time_s, flush=True)


def peers_of(operation: str) -> list[str]:
    """The names of all of an operation."""
    return [*LIBRARIES, *(f"smpi {name}" for name in ALGORITHMS[operation].split())]


def algorithm_of(operation: str, peer: str) -> tuple[str, list[str]]:
    """Method of the program and settings of SMPI for a peer."""
    if peer in SELECTORS:
        return "native", [f"smpi/coll-selector:{peer}"]
    if peer in BINE:
        return peer, []
    # The ranks agree on a start by an allreduce, whose default has a bcast and a reduce in it.
    agreeing = [] if operation == "allreduce" else ["smpi/allreduce:rdb"]
    return "native", [f"smpi/{operation}:{peer.removeprefix('smpi ')}", *agreeing]


def bine_bytes(call: Call, num_hosts: int) -> int:
    """What the blocks of all ranks take together."""
    is_rooted = call.operation in ("scatter", "gather")
    return call.size_bytes * num_hosts ** (2 if is_rooted else 1)


def cell(where: str, call: Call) -> str:
    """Name of a cell of the tables, at `cloud/hosts/model`."""
    return f"{where}/{call.operation}/{call.size_bytes}"


if __name__ == "__main__":
    main()
