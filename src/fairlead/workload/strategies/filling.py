# SPDX-License-Identifier: Apache-2.0
"""Strategies that look at free cores only: node after node, or a rank for each node in turn.

Source: SPREAD, which compares itself with both and calls them Blocked and Cyclic.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairlead.workload.machine import Machine
from fairlead.workload.strategies.problem import CoresOfJobs, JobsProblem
from fairlead.workload.workload import Workload

Cores = npt.NDArray[np.int64]


def blocked(problem: JobsProblem) -> CoresOfJobs:
    """Rank after rank and job after job take the first free core."""
    workload = problem.workload
    return _dealt(workload, workload.machine.free_cores())


def cyclic(problem: JobsProblem) -> CoresOfJobs:
    """Rank after rank takes the next node's first free core; full nodes are passed over.

    The next job goes on at the node after the last one's. Starting each job at the first node
    would pile up their roots there.
    """
    return _dealt(problem.workload, _node_by_turns(problem.workload.machine))


def _node_by_turns(machine: Machine) -> Cores:
    """All free cores in the order in which nodes take turns."""
    left = [list(cores) for cores in _free_cores_by_node(machine)]
    order = []
    while any(left):
        order += [cores.pop(0) for cores in left if cores]
    return np.array(order, dtype=np.int64)


def _free_cores_by_node(machine: Machine) -> list[Cores]:
    free = machine.free_cores()
    return [free[machine.node_of_core(free) == node] for node in range(machine.nodes)]


def _dealt(workload: Workload, order: Cores) -> CoresOfJobs:
    """The cores in this order, each job its part."""
    ends = np.cumsum([job.num_ranks for job in workload.jobs])
    return np.split(order[: ends[-1]], ends[:-1])
