#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What collectives are worth to two programs: `nbody` and `cg --allgather 1`, in SimGrid.

Gong, He, Zhong (CMPI, TPDS 2015) run N-body and CG, whose allgather is a gather and a bcast in
each step. The programs are the examples, linked with our executors: MPICH's algorithms, then the
paper's schedules, then ours. Computing takes no time in the simulation, so this is communication
alone; the programs check their results.

python bench/collectives/applications.py      32 hosts, minutes; --short for 8 hosts
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

from clouds import CLOUDS, pairs_only, platform_of
from rich.console import Console
from rich.table import Table
from simulating import MODELS, built, written

import fairlead as fl
from fairlead.units import format_size

BODY_BYTES = 24
UNKNOWN_BYTES = 8

PROGRAMS = {
    "nbody": ("--bodies", BODY_BYTES, 0.143, ("--steps", "5")),
    "cg": ("--size", UNKNOWN_BYTES, 0.416, ("--systems", "1", "--allgather", "1")),
}
"""Option for the size, bytes of one, the paper's improvement over MPICH, other arguments."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="8 hosts, one size")
    parser.add_argument("--hosts", type=int, default=32)
    parser.add_argument("--cloud", action="append", choices=CLOUDS, help="default: mesh")
    parser.add_argument(
        "--bytes", type=int, nargs="+", default=[2**14, 2**16, 2**18], help="of an allgather"
    )
    options = parser.parse_args()
    num_hosts, sizes_bytes = options.hosts, options.bytes
    if options.short:
        num_hosts, sizes_bytes = 8, [2**14]
    table = Table(title=f"Time of communication on {num_hosts} hosts, ms")
    for column in ("program", "cloud", "allgather", "MPICH", "CMPI", "ours"):
        table.add_column(column, justify="right")
    for column in ("less by CMPI", "less by ours", "the paper's, of all its time"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in PROGRAMS:
            for cloud in options.cloud or ["mesh"]:
                network = CLOUDS[cloud](num_hosts, 0)
                for size_bytes in sizes_bytes:
                    table.add_row(*row(program, folder, cloud, network, size_bytes))
    Console(width=120).print(table)


def row(program: str, folder: Path, cloud: str, network: fl.Network, size_bytes: int) -> list[str]:
    """The times of one program and size."""
    option, unit_bytes, of_paper, others = PROGRAMS[program]
    # Blocks of equal size.
    count = size_bytes // unit_bytes // network.num_hosts * network.num_hosts
    arguments = [option, str(count), *others]
    whole_bytes = count * unit_bytes
    times_s = [
        simulated_s(program, arguments, network, schedules, folder)
        for schedules in (
            [],
            plans(pairs_only(network), whole_bytes, "cmpi"),
            plans(network, whole_bytes, "fastest"),
        )
    ]
    of_mpich_s, *better_s = times_s
    return [
        *(program, cloud, format_size(whole_bytes)),
        *(f"{1e3 * time_s:.4g}" for time_s in times_s),
        *(f"{100 * (1 - time_s / of_mpich_s):.1f} %" for time_s in better_s),
        f"{100 * of_paper:.1f} %",
    ]


def plans(network: fl.Network, whole_bytes: int, method: str) -> list[fl.Schedule]:
    """A gather of all blocks and a bcast of what was gathered."""
    block_bytes = whole_bytes // network.num_hosts
    return [
        fl.collectives.plan("gather", network, block_bytes, method=method),
        fl.collectives.plan("bcast", network, whole_bytes, method=method),
    ]


def simulated_s(
    program: str,
    arguments: list[str],
    network: fl.Network,
    schedules: list[fl.Schedule],
    folder: Path,
) -> float:
    """Simulated seconds of the solve; the simulator's files go to the folder.

    Raises:
        SystemExit: The program's own check of its result failed.
    """
    platform = platform_of(network, folder)
    path = written(schedules, folder / "followed.json")
    command = [
        *("smpirun", "-np", str(network.num_hosts), "--log=root.t:error"),
        *("-platform", str(platform), "-hostfile", str(platform.with_name("hosts.txt"))),
        *("--cfg=smpi/simulate-computation:no", "--cfg=smpi/coll-selector:mpich"),
        *(f"--cfg={value}" for value in MODELS["plain"]),
        *(str(built(program)), *arguments),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"FAIRLEAD_BENCH_SCHEDULES": str(path)},
    )
    found = re.search(r"^solve_s +(\S+)$", done.stdout, re.MULTILINE)
    if found is None or "PASSED" not in done.stdout.split():
        raise SystemExit(f"{program} {arguments}: {done.stdout}{done.stderr}")
    return float(found[1])


if __name__ == "__main__":
    main()
