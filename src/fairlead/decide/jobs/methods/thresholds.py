# SPDX-License-Identifier: Apache-2.0
"""How many ranks of a job a node may hold.

Source: SPREAD section 4, step 3.2 of figure 1 and equation 2; the others are ours.
"""

from __future__ import annotations

from collections.abc import Callable

from fairlead.decide.jobs.methods.free_nodes import FreeNodes
from fairlead.simulation.job import Job

__all__ = ["THRESHOLDS"]


def _fits_together(job: Job, nodes: FreeNodes) -> bool:
    """Whether a rank and its neighbours fit on a node on average; step 3.2 then sets no limit."""
    return bool(job.num_adjacent.mean() <= nodes.mean_free() - 1)


def _by_equation_2(job: Job, nodes: FreeNodes) -> int:
    """The sum over ranks of Adj_i / Adj_max, over all nodes; no limit where neighbours fit.

    Rounded down: section 4 says that the result is 0 with more nodes than ranks. 1 replaces 0.
    """
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
"""Ranks of a job that a node holds at most: SPREAD's, then ours; at least 1."""
