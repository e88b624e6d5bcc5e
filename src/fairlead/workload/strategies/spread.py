# SPDX-License-Identifier: Apache-2.0
"""SPREAD: no more ranks of a job on a node than its network interface can take.

Source: SPREAD figure 1 and equations 1 and 2. What these leave open is in `Choices`; each choice
and what its alternative does is in docs/design/spread.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from fairlead.workload.choices import require_known
from fairlead.workload.job import Integers, Job
from fairlead.workload.machine import Machine
from fairlead.workload.placement import CoresOfJobs
from fairlead.workload.strategies.problem import JobsProblem
from fairlead.workload.workload import Workload

__all__ = ["GROWTH", "THRESHOLDS", "Choices", "spread", "spread_by"]

MEDIUM_BYTES = 2 * 2**10
LARGE_BYTES = 2**20
"""Smallest messages of the two upper classes; source: SPREAD, figure 1."""


@dataclasses.dataclass(frozen=True)
class Choices:
    """What figure 1 leaves open.

    Attributes:
        threshold: Name in THRESHOLDS.
        growth: Name in GROWTH.
    """

    threshold: str = "needed"
    growth: str = "group"

    def __post_init__(self) -> None:
        require_known(self, {"threshold": THRESHOLDS, "growth": GROWTH})


def spread(problem: JobsProblem) -> CoresOfJobs:
    """Figure 1 as Fairlead reads it."""
    return spread_by(problem.workload, Choices())


def spread_by(workload: Workload, choices: Choices) -> CoresOfJobs:
    """Figure 1: the job that talks most comes first, and has the emptiest nodes to choose from."""
    nodes = _Nodes(workload.machine)
    cores_of_job: CoresOfJobs = [np.zeros(0, dtype=np.int64)] * len(workload.jobs)
    for index in _order_of_jobs(workload):
        job = workload.jobs[index]
        threshold = THRESHOLDS[choices.threshold](job, nodes)
        cores_of_job[index] = _place(job, nodes, threshold, GROWTH[choices.growth])
    return cores_of_job


def message_class(job: Job) -> int:
    """0 for large messages, 1 for medium, 2 for small ones; a job's largest message decides."""
    largest = job.largest_message_bytes
    return 0 if largest >= LARGE_BYTES else 1 if largest >= MEDIUM_BYTES else 2


def _order_of_jobs(workload: Workload) -> list[int]:
    """By class, then by average adjacency; jobs that are alike stay in their order."""
    jobs = workload.jobs
    return sorted(
        range(len(jobs)),
        key=lambda index: (message_class(jobs[index]), -jobs[index].num_adjacent.mean()),
    )


class _Nodes:
    """The free cores of all nodes, and how many ranks of the job at hand each node holds."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._is_free = np.zeros(machine.num_cores, dtype=bool)
        self._is_free[machine.free_cores()] = True
        self.ranks_of_job = np.zeros(machine.nodes, dtype=np.int64)

    @property
    def num_free(self) -> Integers:
        """Free cores of each node."""
        by_node = self._is_free.reshape(self._machine.nodes, -1)
        num_free: Integers = np.sum(by_node, axis=1, dtype=np.int64)
        return num_free

    def mean_free(self) -> float:
        """FreeCores_avg: over the nodes that have a free core; others cannot be chosen."""
        num_free = self.num_free
        return float(num_free[num_free > 0].mean())

    def emptiest(self, threshold: float) -> int | None:
        """The node with most free cores among those below the threshold; the first of equals."""
        num_free = np.where(self.ranks_of_job < threshold, self.num_free, 0)
        return int(num_free.argmax()) if num_free.any() else None

    def has_room(self, node: int, threshold: float) -> bool:
        """Whether the node has a free core and is below the threshold."""
        return bool(self.ranks_of_job[node] < threshold and self.num_free[node] > 0)

    def take_core(self, node: int, beside: int | None) -> int:
        """Take a core of the node: in the socket of core `beside`, else in the emptiest socket."""
        is_free = self._is_free.reshape(self._machine.nodes, self._machine.sockets, -1)[node]
        num_free = is_free.sum(axis=1)
        socket = int(num_free.argmax())
        if beside is not None:
            near = beside // self._machine.cores % self._machine.sockets
            socket = near if num_free[near] > 0 else socket
        core = node * self._machine.cores_per_node + socket * self._machine.cores
        core += int(is_free[socket].argmax())
        self._is_free[core] = False
        self.ranks_of_job[node] += 1
        return core


def _place(job: Job, nodes: _Nodes, threshold: int, growth: Growth) -> Integers:
    """Figure 1 for one job: seeds by demand, each followed by its neighbours."""
    core_of_rank = np.full(job.num_ranks, -1, dtype=np.int64)
    mutual_Bps = (job.demand_Bps + job.demand_Bps.T).toarray()
    nodes.ranks_of_job[:] = 0
    limit = threshold
    for seed in _by_demand(mutual_Bps):
        if core_of_rank[seed] >= 0:
            continue
        node = nodes.emptiest(limit)
        while node is None:  # There is a core for every rank, so a higher limit finds one.
            limit += threshold
            node = nodes.emptiest(limit)
        core_of_rank[seed] = nodes.take_core(node, beside=None)
        for rank in growth(mutual_Bps, int(seed), core_of_rank):
            if not nodes.has_room(node, limit):
                break
            core_of_rank[rank] = nodes.take_core(node, beside=int(core_of_rank[seed]))
    return core_of_rank


def _by_demand(mutual_Bps: npt.NDArray[np.float64]) -> Integers:
    """Ranks by what they send and receive (equation 1), the most first; of equals the lower."""
    return np.argsort(-mutual_Bps.sum(axis=1), kind="stable")


Growth = Callable[[npt.NDArray[np.float64], int, Integers], Iterator[int]]


def _from_seed(mutual_Bps: npt.NDArray[np.float64], seed: int, placed: Integers) -> Iterator[int]:
    """The seed's neighbours by mutual demand."""
    for rank in np.argsort(-mutual_Bps[seed], kind="stable"):
        if mutual_Bps[seed, rank] > 0 and placed[rank] < 0:
            yield int(rank)


def _from_group(mutual_Bps: npt.NDArray[np.float64], seed: int, placed: Integers) -> Iterator[int]:
    """Always the rank with most demand towards all that have come to the node with the seed."""
    towards = mutual_Bps[seed].copy()
    while True:
        towards[placed >= 0] = 0
        rank = int(towards.argmax())
        if towards[rank] <= 0:
            return
        yield rank
        towards += mutual_Bps[rank]


GROWTH: dict[str, Growth] = {"seed": _from_seed, "group": _from_group}
"""Whose neighbours join a seed on its node: its own, or also those of who joined before."""


def _by_adjacency(job: Job, nodes: _Nodes) -> int:
    """Free cores per neighbour: the more neighbours, the fewer ranks share an interface."""
    adjacent = float(job.num_adjacent.mean())
    if adjacent == 0:
        return job.num_ranks
    return max(1, int(nodes.mean_free() / adjacent))


def _evenly(job: Job, nodes: _Nodes) -> int:
    """The job's ranks over all nodes with a free core."""
    return max(1, job.num_ranks // int(np.count_nonzero(nodes.num_free)))


def _where_needed(job: Job, nodes: _Nodes) -> int:
    """No limit where a rank and its neighbours fit on a node on average, else evenly."""
    if job.num_adjacent.mean() <= nodes.mean_free() - 1:
        return job.num_ranks
    return _evenly(job, nodes)


def _without(job: Job, nodes: _Nodes) -> int:
    """No limit."""
    del nodes
    return job.num_ranks


THRESHOLDS: dict[str, Callable[[Job, _Nodes], int]] = {
    "adjacency": _by_adjacency,
    "even": _evenly,
    "needed": _where_needed,
    "none": _without,
}
"""Readings of equation 2: ranks of a job that a node holds at most, rounded down, at least 1."""
