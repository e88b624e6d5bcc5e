# SPDX-License-Identifier: Apache-2.0
"""A virtual cluster in SimGrid: calls by MPICH2, by the paper's algorithms, and by ours.

Ranks go to hosts in turn, as MPICH2's launcher places them. SimGrid runs MPICH2's messages
(mpich2.cpp) and our executors, which call MPICH2's algorithms in their groups and inside a host; it
shares nothing with the prediction that chooses among our methods.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from clouds import pairs_only, platform_of
from simulating import Simulation, built, written

import fairlead as fl

MPICH2, CMPI, OURS = "MPICH2", "CMPI", "ours"
METHODS = (MPICH2, CMPI, OURS)

OPERATIONS = {"bcast": 38.2, "reduce": 13.5, "scatter": 22.7, "gather": 27.3}
"""With the paper's mean improvement over MPICH2 in percent (section 5.2)."""

MESSAGE_BYTES = 10**6
"""The paper's default, for each process."""

LIBRARY = ("smpi/coll-selector:ompi",)
"""For a program's other calls: SMPI's defaults take a minute with 200 ranks."""

NOT_COMPARED = (
    *LIBRARY,
    *("smpi/bcast:binomial_tree", "smpi/allreduce:rdb", "smpi/reduce:binomial"),
    "smpi/gather:ompi_binomial",
)
"""For the calls around those that are timed. The library's choice for some of them finds out first
who shares a host, by a message for each pair of ranks: nine tenths of the time with 512 ranks."""

PRINTED = re.compile(r"^timed \w+ \d+ \d+ \S+ (?P<is_right>[01])\nranks (?P<ranks>.*)$", re.M)


@dataclasses.dataclass(frozen=True)
class Timing:
    """A call to time; by MPICH2 where it has no schedule."""

    operation: str
    size_bytes: int
    root: int = 0
    schedule: fl.Schedule | None = None


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Hosts, and how many ranks run on them.

    Attributes:
        network: What the hosts really have; a plan may be made from another one.
        folder: For the simulator's files.
    """

    network: fl.Network
    num_ranks: int
    folder: Path

    def plan(
        self,
        method: str,
        operation: str,
        size_bytes: int,
        root: int,
        seen: fl.Network | None = None,
    ) -> fl.Schedule | None:
        """By the paper's algorithms or ours, from what a probe found; None for MPICH2.

        The paper's probe sees pairs only, and its message size is that of a process.
        """
        network = seen or self.network
        host = root % network.num_hosts
        if method == MPICH2:
            return None
        if method == CMPI:
            return fl.collectives.plan(
                operation, pairs_only(network), size_bytes, host, method="cmpi"
            )
        sizes: int | list[int] = size_bytes
        if operation in ("scatter", "gather"):
            sizes = [size_bytes * count for count in self.ranks_of_hosts()]
        return fl.collectives.plan(operation, network, sizes, host)

    def ranks_of_hosts(self) -> list[int]:
        counts = np.bincount(np.arange(self.num_ranks) % self.network.num_hosts)
        return [int(count) for count in counts]

    def rank_times_s(self, timings: Sequence[Timing]) -> list[npt.NDArray[np.float64]]:
        """Seconds of each call until each rank has done with it, after a common start.

        Raises:
            RuntimeError: A call failed, or delivered a wrong result.
        """
        order = [rank % self.network.num_hosts for rank in range(self.num_ranks)]
        simulation = Simulation(
            built("timed"), platform_of(self.network, self.folder, order), "plain"
        )
        schedules = [timing.schedule for timing in timings if timing.schedule is not None]
        file = written(schedules, self.folder / "schedules.json")
        output = simulation.output(str(file), list(_words(timings)), NOT_COMPARED)
        found = list(PRINTED.finditer(output))
        if len(found) != len(timings) or any(each["is_right"] != "1" for each in found):
            raise RuntimeError(f"{[*_words(timings)]} failed: {output}")
        return [np.array(each["ranks"].split(), dtype=float) for each in found]

    def times_s(self, timings: Sequence[Timing]) -> list[float]:
        """Seconds of each call until the last rank has done with it."""
        return [float(times.max()) for times in self.rank_times_s(timings)]


def _words(timings: Sequence[Timing]) -> Iterator[str]:
    number = 0
    for timing in timings:
        algorithm = "mpich2"
        if timing.schedule is not None:
            algorithm, number = str(number), number + 1
        yield f"{timing.operation}:{timing.size_bytes}:{timing.root}:{algorithm}"
