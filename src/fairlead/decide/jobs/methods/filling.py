# SPDX-License-Identifier: Apache-2.0
"""Methods that use only the free cores: node after node, or a rank for each node in turn.

Source: SPREAD section 3, where they are called Blocked and Cyclic, and serve for comparison.
"""

from __future__ import annotations

import numpy as np

from fairlead.decide.jobs.methods.problem import JobsProblem
from fairlead.simulation.job import Integers
from fairlead.simulation.jobs_placement import CoresOfJobs
from fairlead.simulation.machine import Machine


def blocked(problem: JobsProblem) -> CoresOfJobs:
    """Rank after rank and job after job take the first free core."""
    workload = problem.workload
    return workload.by_job(workload.machine.free_cores())


def cyclic(problem: JobsProblem) -> CoresOfJobs:
    """Rank after rank takes the next node's first free core; full nodes are passed over.

    The next job continues at the node after the last one's. If each job started at the first node,
    all roots would be there.
    """
    return problem.workload.by_job(_node_by_turns(problem.workload.machine))


def _node_by_turns(machine: Machine) -> Integers:
    """All free cores in the order in which nodes take turns."""
    left = [list(cores) for cores in _free_cores_by_node(machine)]
    order = []
    while any(left):
        order += [cores.pop(0) for cores in left if cores]
    return np.array(order, dtype=np.int64)


def _free_cores_by_node(machine: Machine) -> list[Integers]:
    free = machine.free_cores()
    return [free[machine.node_of_core(free) == node] for node in range(machine.nodes)]
