# SPDX-License-Identifier: Apache-2.0
"""SPREAD: no more ranks of a job on a node than its network interface can take.

Source: SPREAD section 4, figure 1 and equations 1 and 2; docs/design/spread.md has the steps by
number, what the text leaves open, and what other readings change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from fairlead.decide.jobs.methods.free_nodes import FreeNodes
from fairlead.decide.jobs.methods.growth import GROWTH
from fairlead.decide.jobs.methods.problem import JobsProblem
from fairlead.decide.jobs.methods.thresholds import THRESHOLDS
from fairlead.simulation.checks import require_known
from fairlead.simulation.job import Integers, Job
from fairlead.simulation.jobs_placement import CoresOfJobs
from fairlead.simulation.workload import Workload

__all__ = [
    "DEMANDS",
    "LENGTHS",
    "OVERFLOWS",
    "SpreadOptions",
    "message_class",
    "spread",
    "spread_by",
    "spread_group",
]

SMALL_BYTES = 2 * 2**10
LARGE_BYTES = 2**20
"""Largest of the small messages, smallest of the large ones; source: SPREAD section 4."""

OVERFLOWS = ("next_node", "own_turn")
"""Where neighbours go that have no room on the seed's node: to the next emptiest node at once, in
their order, or to the node that is emptiest at their own turn in the order of demands."""

_LEAST_BPS = 1e-300
"""Replaces 0 for a job that sends nothing."""


@dataclasses.dataclass(frozen=True)
class SpreadOptions:
    """Readings and variants; the defaults are the paper's figure 1, step by step.

    Attributes:
        threshold: Name in THRESHOLDS.
        growth: Name in GROWTH.
        length: Name in LENGTHS.
        demand: Name in DEMANDS.
        overflow: Name in OVERFLOWS.
    """

    threshold: str = "equation_2"
    growth: str = "seed"
    length: str = "largest"
    demand: str = "sent"
    overflow: str = "next_node"

    def __post_init__(self) -> None:
        require_known(
            self,
            {
                "threshold": tuple(THRESHOLDS),
                "growth": tuple(GROWTH),
                "length": tuple(LENGTHS),
                "demand": tuple(DEMANDS),
                "overflow": OVERFLOWS,
            },
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
        nodes.begin_job(THRESHOLDS[options.threshold](job, nodes))
        cores_of_job[index] = _place(LENGTHS[options.length](job), nodes, options)
    return cores_of_job


def message_class(job: Job) -> int:
    """0 for large messages, 1 for medium, 2 for small ones; a job's largest message decides."""
    largest = job.largest_message_bytes
    return 0 if largest >= LARGE_BYTES else 1 if largest > SMALL_BYTES else 2


def _order_of_jobs(workload: Workload) -> list[int]:
    """By class, then by average adjacency; equal jobs keep their order."""
    jobs = workload.jobs
    return sorted(
        range(len(jobs)),
        key=lambda index: (message_class(jobs[index]), -jobs[index].num_adjacent.mean()),
    )


def _place(sent_Bps: sp.csr_array, nodes: FreeNodes, options: SpreadOptions) -> Integers:
    """Steps 3.3 to 3.9 for one job: seeds by demand, each followed by its neighbours."""
    mutual_Bps = sp.csr_array(sent_Bps + sent_Bps.T)
    core_of_rank = np.full(mutual_Bps.shape[0], -1, dtype=np.int64)
    for seed in _in_descending_order(DEMANDS[options.demand](sent_Bps)):
        if core_of_rank[seed] >= 0:
            continue
        node = nodes.choose()
        first_core = core_of_rank[seed] = nodes.take_core(node, first_core=None)
        for rank in GROWTH[options.growth](mutual_Bps, int(seed), core_of_rank):
            if nodes.has_room(node):
                core_of_rank[rank] = nodes.take_core(node, first_core=first_core)
            elif options.overflow == "next_node":
                node = nodes.choose()
                first_core = core_of_rank[rank] = nodes.take_core(node, first_core=None)
            else:
                break
    return core_of_rank


def _in_descending_order(demand_Bps: np.ndarray) -> Integers:
    """Ranks by their demand, the most first; of equals the lower rank."""
    # Equal demands must stay equal whatever the order of summation.
    shares = np.round(demand_Bps / max(demand_Bps.max(), _LEAST_BPS), 12)
    return np.argsort(-shares, kind="stable")


LENGTHS: dict[str, Callable[[Job], sp.csr_array]] = {
    "largest": lambda job: job.peak_demand_Bps,
    "mean": lambda job: job.demand_Bps,
}
"""L_ij of equation 1, the length of a pair's messages: of the largest, or on average."""


def _sent(sent_Bps: sp.csr_array) -> np.ndarray:
    """Equation 1: the sum over j of L_ij times lambda_ij, which rank i sends."""
    return np.asarray(sent_Bps.sum(axis=1)).reshape(-1)


def _sent_and_received(sent_Bps: sp.csr_array) -> np.ndarray:
    """What a rank sends, and what it receives."""
    return _sent(sent_Bps) + np.asarray(sent_Bps.sum(axis=0)).reshape(-1)


DEMANDS: dict[str, Callable[[sp.csr_array], np.ndarray]] = {
    "sent": _sent,
    "both": _sent_and_received,
}
"""Communication demand of each rank, shape (T,), from what each sends to each, [src, dst]."""

FIGURE_1 = SpreadOptions()
GROUP = SpreadOptions(growth="group", demand="both", overflow="own_turn")
