# SPDX-License-Identifier: Apache-2.0
"""SPREAD: no more ranks of a job on a node than its network interface can take.

Source: SPREAD figure 1 and equations 1 and 2; docs/design/spread.md has its steps by number, and
what other readings of them do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from fairlead.decide.jobs.methods.free_nodes import FreeNodes
from fairlead.decide.jobs.methods.growth import GROWTH, Growth
from fairlead.decide.jobs.methods.problem import JobsProblem
from fairlead.simulation.checks import require_known
from fairlead.simulation.job import Integers, Job
from fairlead.simulation.jobs_placement import CoresOfJobs
from fairlead.simulation.workload import Workload

__all__ = ["LENGTHS", "THRESHOLDS", "SpreadOptions", "spread", "spread_by", "spread_group"]

MEDIUM_BYTES = 2 * 2**10
LARGE_BYTES = 2**20
"""Smallest messages of the two upper classes; source: SPREAD, figure 1."""

_LEAST_BPS = 1e-300
"""Replaces 0 for a job that sends nothing."""


@dataclasses.dataclass(frozen=True)
class SpreadOptions:
    """Variants; the defaults are the paper's figure 1, step by step.

    Attributes:
        threshold: Name in THRESHOLDS.
        growth: Name in GROWTH.
        length: Name in LENGTHS.
    """

    threshold: str = "equation_2"
    growth: str = "seed"
    length: str = "largest"

    def __post_init__(self) -> None:
        require_known(
            self,
            {"threshold": tuple(THRESHOLDS), "growth": tuple(GROWTH), "length": tuple(LENGTHS)},
        )


def spread(problem: JobsProblem) -> CoresOfJobs:
    """Figure 1 as it stands in the paper."""
    return spread_by(problem.workload, FIGURE_1)


def spread_group(problem: JobsProblem) -> CoresOfJobs:
    """Our variant: the neighbours of ranks that joined also follow a seed to its node."""
    return spread_by(problem.workload, GROUP)


def spread_by(workload: Workload, options: SpreadOptions) -> CoresOfJobs:
    """Figure 1: the job with the most communication comes first and gets the emptiest nodes."""
    nodes = FreeNodes(workload.machine)
    cores_of_job: CoresOfJobs = [np.zeros(0, dtype=np.int64)] * len(workload.jobs)
    for index in _order_of_jobs(workload):
        job = workload.jobs[index]
        threshold = THRESHOLDS[options.threshold](job, nodes)
        sent_Bps = LENGTHS[options.length](job)
        mutual_Bps = sp.csr_array(sent_Bps + sent_Bps.T)
        cores_of_job[index] = _place(mutual_Bps, nodes, threshold, GROWTH[options.growth])
    return cores_of_job


def message_class(job: Job) -> int:
    """0 for large messages, 1 for medium, 2 for small ones; a job's largest message decides."""
    largest = job.largest_message_bytes
    return 0 if largest >= LARGE_BYTES else 1 if largest >= MEDIUM_BYTES else 2


def _order_of_jobs(workload: Workload) -> list[int]:
    """By class, then by average adjacency; equal jobs keep their order."""
    jobs = workload.jobs
    return sorted(
        range(len(jobs)),
        key=lambda index: (message_class(jobs[index]), -jobs[index].num_adjacent.mean()),
    )


def _place(mutual_Bps: sp.csr_array, nodes: FreeNodes, threshold: int, growth: Growth) -> Integers:
    """Figure 1 for one job: seeds by demand, each followed by its neighbours."""
    core_of_rank = np.full(mutual_Bps.shape[0], -1, dtype=np.int64)
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


def _by_demand(mutual_Bps: sp.csr_array) -> Integers:
    """Ranks by what they send and receive (equation 1), the most first; of equals the lower."""
    demand_Bps = np.asarray(mutual_Bps.sum(axis=1)).reshape(-1)
    # Equal demands must stay equal whatever the order of summation.
    shares = np.round(demand_Bps / max(demand_Bps.max(), _LEAST_BPS), 12)
    return np.argsort(-shares, kind="stable")


LENGTHS: dict[str, Callable[[Job], sp.csr_array]] = {
    "largest": lambda job: job.peak_demand_Bps,
    "mean": lambda job: job.demand_Bps,
}
"""L_ij of equation 1, the length of a pair's messages: of the largest, or on average."""


def _fits_together(job: Job, nodes: FreeNodes) -> bool:
    """Whether a rank and its neighbours fit on a node on average; figure 1 then sets no limit."""
    return bool(job.num_adjacent.mean() <= nodes.mean_free() - 1)


def _by_equation_2(job: Job, nodes: FreeNodes) -> int:
    """The sum over ranks of Adj_i / Adj_max, over all nodes; no limit where neighbours fit."""
    if _fits_together(job, nodes):
        return job.num_ranks
    adjacent = job.num_adjacent
    return max(1, int(adjacent.sum()) // (int(adjacent.max()) * nodes.num_nodes))


def _where_needed(job: Job, nodes: FreeNodes) -> int:
    """No limit where neighbours fit, else evenly."""
    return job.num_ranks if _fits_together(job, nodes) else _evenly(job, nodes)


def _evenly(job: Job, nodes: FreeNodes) -> int:
    """The job's ranks over the nodes with a free core."""
    return max(1, job.num_ranks // nodes.num_with_free_core())


def _by_adjacency(job: Job, nodes: FreeNodes) -> int:
    """Free cores per neighbour: the more neighbours, the fewer ranks share an interface."""
    adjacent = float(job.num_adjacent.mean())
    return max(1, int(nodes.mean_free() / adjacent)) if adjacent > 0 else job.num_ranks


def _without(job: Job, nodes: FreeNodes) -> int:
    """No limit."""
    del nodes
    return job.num_ranks


THRESHOLDS: dict[str, Callable[[Job, FreeNodes], int]] = {
    "equation_2": _by_equation_2,
    "needed": _where_needed,
    "even": _evenly,
    "adjacency": _by_adjacency,
    "none": _without,
}
"""Ranks of a job that a node holds at most: as in figure 1, then in other ways; all are rounded
down, and at least 1."""

FIGURE_1 = SpreadOptions()
GROUP = SpreadOptions(growth="group")
