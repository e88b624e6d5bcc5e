# SPDX-License-Identifier: Apache-2.0
"""Figure 11: CG and N-body on 64 hosts, whose allgather is a gather and a bcast (section 5.4).

Times have the paper's three parts: computation, communication, and the overhead of building the
hierarchy and the trees once, which here is the processor's time of planning. Measuring the network
comes before, as in the paper (item `calibration`).
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from clouds import platform_of
from rented import rented
from simulating import PLAIN, built, written

import fairlead as fl
from cmpi_items.clusters import CMPI, LIBRARY, METHODS, MPICH2, OURS, Cluster
from cmpi_items.figures import Figure, less_percent, mean_of
from cmpi_items.kept import kept
from cmpi_items.options import Options

GRIDS = ((10, 10), (40, 40), (320, 160))
"""Width and height: 100 to 51,200 unknowns, the paper's least and most."""

OF_PAPER: dict[int, float | str] = {100: "slower", 51_200: 41.6}
"""How much less of all its time CG needs by CMPI, by unknowns."""

BODY_BYTES = 24
STEPS = (1, 128)
MESSAGES_BYTES = (2 * 10**3, 45 * 10**3, 10**6)
"""All bodies together. The paper's message is one of 2 KB to 1 MB; the last is in figure 11b."""

FIELDS = ("steps", "solve_s", "computation_s", "communication_s")


class Times(NamedTuple):
    """Seconds of a run; the parts are means of all ranks, the solve is the slowest rank's."""

    num_steps: float
    solve_s: float
    computation_s: float
    communication_s: float
    overhead_s: float = 0.0

    @property
    def total_s(self) -> float:
        return self.solve_s + self.overhead_s


@dataclasses.dataclass(frozen=True)
class Program:
    """A program of CMakeLists.txt, and what its allgather moves."""

    name: str
    arguments: tuple[int, ...]
    num_values: int
    value_bytes: int

    def run(self, cluster: Cluster, method: str) -> Times:
        """Simulated times, planning included.

        Raises:
            RuntimeError: The program's own check of its result failed.
        """
        _warm_up_planning()
        begun_s = time.process_time()
        schedules = self._plan(cluster, method)
        overhead_s = time.process_time() - begun_s if schedules else 0.0
        platform = platform_of(cluster.network, cluster.folder)
        path = written(schedules, cluster.folder / "followed.json")
        settings = ("smpi/simulate-computation:no", "smpi/host-speed:1Gf", *LIBRARY, *PLAIN)
        command = [
            *("smpirun", "-np", str(cluster.num_ranks), "--log=root.t:error"),
            *("-platform", str(platform), "-hostfile", str(platform.with_name("hosts.txt"))),
            *(f"--cfg={value}" for value in settings),
            *(str(built(self.name)), *map(str, self.arguments)),
        ]
        environment = os.environ | {"FAIRLEAD_BENCH_SCHEDULES": str(path)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        found = [re.search(rf"^{field} +(\S+)", done.stdout, re.MULTILINE) for field in FIELDS]
        if None in found or "PASSED" not in done.stdout.split():
            raise RuntimeError(f"{self} by {method}: {done.stdout}{done.stderr}")
        steps, *seconds = (float(match[1]) for match in found if match)
        return Times(steps, *seconds, overhead_s=overhead_s)

    def _plan(self, cluster: Cluster, method: str) -> Sequence[fl.Schedule]:
        """A gather of all blocks to rank 0, and a bcast of what was gathered."""
        block_bytes = -(-self.num_values // cluster.num_ranks) * self.value_bytes
        whole_bytes = block_bytes * cluster.num_ranks
        plans = [
            cluster.plan(method, "gather", block_bytes, 0),
            cluster.plan(method, "bcast", whole_bytes, 0),
        ]
        return [plan for plan in plans if plan is not None]


def cg_by_size(options: Options) -> Iterator[Figure]:
    """Figure 11a. The abstract, sections 1 and 6 give 41.6 % to N-body, section 5.4 to CG."""
    grids = ((6, 6),) if options.is_short else GRIDS
    for width, height in grids:
        num_unknowns = width * height
        draws = _draws(options, Program("laplacian_cg", (width, height), num_unknowns, 8))
        of_paper = OF_PAPER.get(num_unknowns)
        yield from _figures(f"{num_unknowns:,} unknowns", draws, of_paper)
        shares = [100 * each[MPICH2].communication_s / each[MPICH2].solve_s for each in draws]
        name = f"{num_unknowns:,} unknowns, {MPICH2}, communication"
        yield mean_of(name, "% of its time", "above 90", shares)


def nbody_by_steps(options: Options) -> Iterator[Figure]:
    """Figure 11b: messages of 1 MB. The abstract gives 14.3 % to CG, section 5.4 to N-body."""
    message_bytes = 2 * 10**3 if options.is_short else 10**6
    for num_steps in (1, 2) if options.is_short else STEPS:
        draws = _nbody(options, num_steps, message_bytes)
        is_largest = num_steps == STEPS[-1]
        name = f"steps: {num_steps}, {message_bytes:,} bytes"
        yield from _figures(name, draws, 14.3 if is_largest else None)
        if is_largest:
            yield _communication_saved(name, draws)


def nbody_by_message(options: Options) -> Iterator[Figure]:
    """Figure 11c: 128 steps."""
    num_steps = 2 if options.is_short else STEPS[-1]
    for message_bytes in MESSAGES_BYTES[: 1 if options.is_short else -1]:
        draws = _nbody(options, num_steps, message_bytes)
        yield from _figures(f"steps: {num_steps}, {message_bytes:,} bytes", draws, None)


Draws = Sequence[dict[str, Times]]
"""Times by each method on each cloud."""


def _draws(options: Options, program: Program) -> Draws:
    """A run by each method on each cloud, one rank on each host."""
    words = "-".join(map(str, (program.name, *program.arguments)))
    return [
        {
            method: Times(*kept(options.measured, f"{words}-{seed}-{method}", run))
            for method in METHODS
            for run in [partial(_run, options, program, seed, method)]
        }
        for seed in options.draws
    ]


def _run(options: Options, program: Program, seed: int, method: str) -> Times:
    network = rented(options.num_hosts, seed)
    return program.run(Cluster(network, options.num_hosts, options.folder), method)


def _nbody(options: Options, num_steps: int, message_bytes: int) -> Draws:
    num_bodies = message_bytes // BODY_BYTES
    return _draws(options, Program("body_steps", (num_steps, num_bodies), num_bodies, BODY_BYTES))


def _figures(name: str, draws: Draws, of_paper: float | str | None) -> Iterator[Figure]:
    yield Figure(f"{name}, allgathers", "calls", None, draws[0][MPICH2].num_steps)
    for method in METHODS:
        totals_s = [each[method].total_s for each in draws]
        yield mean_of(f"{name}, {method}, all its time", "s", None, totals_s)
    for method in METHODS[1:]:
        paper = of_paper if method == CMPI else None
        saved = _saved_percent(draws, method, lambda times: times.total_s)
        yield mean_of(f"{name}, {method}", "% less of all time than MPICH2", paper, saved)
        overheads_s = [each[method].overhead_s for each in draws]
        yield mean_of(f"{name}, {method}, building hierarchy and trees", "s", None, overheads_s)


def _communication_saved(name: str, draws: Draws) -> Figure:
    saved = _saved_percent(draws, CMPI, lambda times: times.communication_s)
    return mean_of(f"{name}, {CMPI}, communication", "% less than MPICH2", 33.2, saved)


def _saved_percent(draws: Draws, method: str, seconds_of: Callable[[Times], float]) -> list[float]:
    return [less_percent(seconds_of(each[method]), seconds_of(each[MPICH2])) for each in draws]


@functools.cache
def _warm_up_planning() -> None:
    """Plans once: the first plan of a process takes many times as long as the next ones."""
    cluster = Cluster(rented(4), 4, Path())
    for operation in ("gather", "bcast"):
        for method in (CMPI, OURS):
            cluster.plan(method, operation, 1000, 0)
