#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What collectives are worth to two programs: `nbody` and `cg --allgather 1`, in SimGrid.

Gong, He, Zhong (CMPI, TPDS 2015) run N-body and CG, whose allgather is a gather and a bcast in
each step, and break their time down into computation, communication and overhead. The programs are
the examples, linked with our executors: MPICH's algorithms, then the paper's schedules, then ours.
The programs check their results and print the first two parts. Their computing is timed on this
machine, so runs differ; `--communication` leaves it out, and with it repeats. Overhead comes before
the program: a probe of all pairs, by the model, and the processor's time of planning.

python bench/collectives/applications.py      32 hosts, minutes; --short for 8 hosts
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from clouds import CLOUDS, pairs_only, platform_of
from rich.console import Console
from rich.table import Table
from simulating import MODELS, built, written

import fairlead as fl
from fairlead.flows.statistics import Interval, mean_interval
from fairlead.units import format_size

PROBE_BYTES = (1, 2**20)
"""The paper's ping-pong: a short message for the latency, a long one for the bandwidth."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="8 hosts, one size")
    parser.add_argument("--hosts", type=int, default=32)
    parser.add_argument("--cloud", action="append", choices=CLOUDS, help="default: mesh")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--communication", action="store_true", help="computing takes no time")
    parser.add_argument(
        "--bytes", type=int, nargs="+", default=[2**14, 2**16, 2**18], help="of an allgather"
    )
    options = parser.parse_args()
    num_hosts, sizes_bytes, repeats = options.hosts, options.bytes, options.repeats
    if options.short:
        num_hosts, sizes_bytes, repeats = 8, [2**14], 2
    settings = NO_COMPUTING if options.communication else COMPUTING
    table = Table(title=f"Times on {num_hosts} hosts, ms: means of {repeats} runs, 95 % intervals")
    for column in ("program", "cloud", "allgather", "by", "computation", "communication"):
        table.add_column(column, justify="right")
    for column in ("all", "less than MPICH", "the paper's", "overhead", "paid after"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as name:
        for program in PROGRAMS.values():
            for cloud in options.cloud or ["mesh"]:
                network = CLOUDS[cloud](num_hosts, 0)
                bench = Bench(program, network, Path(name), settings)
                for size_bytes in sizes_bytes:
                    for cells in rows(bench, size_bytes, repeats):
                        table.add_row(program.name, cloud, *cells)
                    table.add_section()
    Console(width=150).print(table)


class Program(NamedTuple):
    """An example, and what the paper reports of it.

    Attributes:
        option: For the size, in units of `unit_bytes`.
        of_paper: How much less of all its time than by MPICH.
        num_steps: Allgathers that the arguments ask for.
    """

    name: str
    option: str
    unit_bytes: int
    of_paper: float
    num_steps: int
    arguments: tuple[str, ...]


PROGRAMS = {
    "nbody": Program("nbody", "--bodies", 24, 0.143, 5, ("--steps", "5")),
    "cg": Program("cg", "--size", 8, 0.416, 25, ("--systems", "1", "--allgather", "1")),
}

NO_COMPUTING = ("smpi/simulate-computation:no",)
COMPUTING = (
    "smpi/simulate-computation:yes",
    # What the platform says of its hosts, so that they compute as fast as this machine.
    "smpi/host-speed:1Gf",
    "smpi/cpu-threshold:0",
)


class Times(NamedTuple):
    """Seconds that a run prints."""

    solve_s: float
    computation_s: float
    communication_s: float


@dataclasses.dataclass(frozen=True)
class Bench:
    """A program on a network; the simulator's files go to the folder."""

    program: Program
    network: fl.Network
    folder: Path
    settings: Sequence[str]

    def times(self, count: int, schedules: Sequence[fl.Schedule]) -> Times:
        """Simulated times of a run.

        Raises:
            SystemExit: The program's own check of its result failed.
        """
        name, arguments = self.program.name, (self.program.option, str(count))
        platform = platform_of(self.network, self.folder)
        path = written(schedules, self.folder / "followed.json")
        command = [
            *("smpirun", "-np", str(self.network.num_hosts), "--log=root.t:error"),
            *("-platform", str(platform), "-hostfile", str(platform.with_name("hosts.txt"))),
            *(f"--cfg={value}" for value in (*self.settings, "smpi/coll-selector:mpich")),
            *(f"--cfg={value}" for value in MODELS["plain"]),
            *(str(built(name)), *arguments, *self.program.arguments),
        ]
        environment = os.environ | {"FAIRLEAD_BENCH_SCHEDULES": str(path)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        found = [
            re.search(rf"^{field} +(\S+)", done.stdout, re.MULTILINE) for field in Times._fields
        ]
        if None in found or "PASSED" not in done.stdout.split():
            raise SystemExit(f"{name} {arguments}: {done.stdout}{done.stderr}")
        return Times(*(float(match[1]) for match in found if match is not None))


def rows(bench: Bench, size_bytes: int, repeats: int) -> Iterator[list[str]]:
    """The cells of a size: MPICH's algorithms, the paper's schedules, ours; runs interleaved."""
    program, network = bench.program, bench.network
    # Blocks of equal size.
    count = size_bytes // program.unit_bytes // network.num_hosts * network.num_hosts
    whole_bytes = count * program.unit_bytes
    planned = {
        "MPICH": Planned((), 0.0),
        "CMPI": plans(pairs_only(network), whole_bytes, "cmpi"),
        "ours": plans(network, whole_bytes, "fastest"),
    }
    runs: dict[str, list[Times]] = {name: [] for name in planned}
    for _ in range(repeats):
        for name, plan in planned.items():
            runs[name].append(bench.times(count, plan.schedules))
    mpich_s = float(np.mean([times.solve_s for times in runs["MPICH"]]))
    for name, times in runs.items():
        parts = [[getattr(run, field) for run in times] for field in Times._fields]
        all_s, computation_s, communication_s = (mean_interval(values) for values in parts)
        overhead_s = planned[name].took_s + probing_s(network)
        saved_s = (mpich_s - all_s.value) / program.num_steps
        is_native = name == "MPICH"
        yield [
            *(format_size(whole_bytes), name),
            *(shown(part_s) for part_s in (computation_s, communication_s, all_s)),
            "" if is_native else f"{100 * (1 - all_s.value / mpich_s):.1f} %",
            f"{100 * program.of_paper:.1f} %" if name == "CMPI" else "",
            "" if is_native else f"{1e3 * overhead_s:.4g}",
            f"{math.ceil(overhead_s / saved_s)} steps" if saved_s > 0 else "",
        ]


class Planned(NamedTuple):
    """Schedules, and the seconds of the processor that planning took."""

    schedules: Sequence[fl.Schedule]
    took_s: float


def plans(network: fl.Network, whole_bytes: int, method: str) -> Planned:
    """A gather of all blocks and a bcast of what was gathered."""
    block_bytes = whole_bytes // network.num_hosts
    begun_s = time.process_time()
    schedules = [
        fl.collectives.plan("gather", network, block_bytes, method=method),
        fl.collectives.plan("bcast", network, whole_bytes, method=method),
    ]
    return Planned(schedules, time.process_time() - begun_s)


def probing_s(network: fl.Network) -> float:
    """Time of a probe as the paper's: in each round each host has one partner.

    A round takes as long as its slowest pair, which sends messages of `PROBE_BYTES` in both
    directions, one after the other. An even number of hosts meet in a circle around the last one.
    """
    num_hosts = network.num_hosts
    one_way_s = len(PROBE_BYTES) * network.latency_s + sum(PROBE_BYTES) / network.bandwidth_Bps
    both_ways_s = one_way_s + one_way_s.T
    total_s = 0.0
    for turn in range(num_hosts - 1):
        circle = [
            num_hosts - 1,
            *((place + turn) % (num_hosts - 1) for place in range(num_hosts - 1)),
        ]
        half = num_hosts // 2
        pairs = zip(circle[:half], circle[: half - 1 : -1], strict=True)
        total_s += max(both_ways_s[pair] for pair in pairs)
    return total_s


def shown(value_s: Interval) -> str:
    low, high = 1e3 * value_s.low, 1e3 * value_s.high
    return f"{1e3 * value_s.value:.4g} [{low:.4g}, {high:.4g}]"


if __name__ == "__main__":
    main()
