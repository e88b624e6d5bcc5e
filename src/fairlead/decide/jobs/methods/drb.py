# SPDX-License-Identifier: Apache-2.0
"""DRB: recursive bipartitioning of all jobs' traffic and of the machine's tree, by Scotch.

Source: SPREAD section 3; section 5.2 compares with it, by Scotch 5.1. docs/design/spread.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from fairlead import _core
from fairlead.decide.jobs.methods.problem import JobsProblem
from fairlead.model.cost import rank_matrix
from fairlead.simulation.jobs_placement import CoresOfJobs
from fairlead.simulation.machine import Machine


def drb(problem: JobsProblem) -> CoresOfJobs:
    """Ranks with much traffic between them come near each other in the tree.

    Traffic is the total volume of a pair, as in section 3, and Scotch runs once.
    """
    return _map_jobs(problem, [job.volume_bytes for job in problem.workload.jobs])


def drb_by_rate(problem: JobsProblem) -> CoresOfJobs:
    """The same for bytes a second: a long job then counts no more than a short, busy one."""
    return _map_jobs(problem, [job.demand_Bps for job in problem.workload.jobs])


def _map_jobs(problem: JobsProblem, traffics: Sequence[sp.csr_array]) -> CoresOfJobs:
    machine = problem.workload.machine
    cores = _core.scotch_tree_placement(
        rank_matrix(sp.csr_array(sp.block_diag(traffics, "csr"))),
        num_children=[machine.nodes, machine.sockets, machine.cores],
        distances=_distances(machine),
        free_cores=machine.free_cores(),
        seed=problem.seed,
    )
    return problem.workload.by_job(np.array(cores, dtype=np.int64))


def _distances(machine: Machine) -> list[int]:
    """How long a byte takes between nodes, sockets and cores; the fastest is 10.

    Times of 100 000 times the fastest or more are equal: Scotch uses 32 bits.
    """
    seconds = np.array(
        [
            2 / machine.nic_Bps,  # sent and received
            (1 + machine.remote_memory_ratio) / machine.memory_Bps,
            1 / machine.memory_Bps,
        ]
    )
    scaled = np.rint(10 * np.minimum(seconds / seconds.min(), 1e5)).astype(int)
    # Scotch's tree takes descending distances only.
    return [int(value) for value in np.maximum.accumulate(scaled[::-1])[::-1]]
