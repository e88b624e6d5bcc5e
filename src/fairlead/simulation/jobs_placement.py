# SPDX-License-Identifier: Apache-2.0
"""Which core each rank of several jobs runs on."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.errors import ShapeError, TopologyError
from fairlead.simulation.machine import Machine
from fairlead.simulation.workload import Workload

__all__ = ["CoresOfJobs", "JobsPlacement"]

CoresOfJobs = list[npt.NDArray[np.int64]]
"""For each job the core of each of its ranks, shape (T,)."""


@dataclasses.dataclass(frozen=True, eq=False)
class JobsPlacement:
    """A core of its own for each rank of each job.

    Attributes:
        machine: The machine with these cores.
        core_of_rank: For each job an array of shape (T,); cores are numbered node by node, socket
            by socket.
        method: Name of the method that made it.
    """

    machine: Machine
    core_of_rank: Sequence[npt.NDArray[np.int64]]
    method: str = "given"

    def __post_init__(self) -> None:
        cores = tuple(np.ascontiguousarray(job, dtype=np.int64) for job in self.core_of_rank)
        object.__setattr__(self, "core_of_rank", cores)
        self._require_free_on(self.machine)
        used = np.concatenate(cores) if cores else np.zeros(0, dtype=np.int64)
        twice = np.flatnonzero(np.bincount(used, minlength=1) > 1)
        if twice.size:
            raise TopologyError(
                f"placement {self.method!r}: core {twice[0]} has more than one rank"
            )

    def require_fits(self, workload: Workload) -> None:
        """Check the placement against the jobs there are, and the machine that they share.

        Raises:
            ShapeError: It has other jobs or ranks; the message names both.
            TopologyError: It is for other nodes, sockets or cores, or uses a core that is taken;
                the message names both shapes, or job, rank and core.
        """
        expected = [job.num_ranks for job in workload.jobs]
        actual = [len(cores) for cores in self.core_of_rank]
        if expected != actual:
            raise ShapeError(
                f"placement {self.method!r}: has {actual} ranks in its jobs, the workload "
                f"{expected}"
            )
        if _shape(workload.machine) != _shape(self.machine):
            raise TopologyError(
                f"placement {self.method!r}: is for {_shape(self.machine)}, but the machine has "
                f"{_shape(workload.machine)}"
            )
        self._require_free_on(workload.machine)

    def _require_free_on(self, machine: Machine) -> None:
        free = machine.free_cores()
        for job, cores in enumerate(self.core_of_rank):
            outside = np.flatnonzero(~np.isin(cores, free))
            if outside.size:
                rank = outside[0]
                raise TopologyError(
                    f"placement {self.method!r}: job {job}: rank {rank}: core {cores[rank]} is "
                    "taken or not in the machine"
                )

    def node_of_rank(self, job: int) -> npt.NDArray[np.int64]:
        """Node of each rank of a job, shape (T,)."""
        return self.machine.node_of_core(self.core_of_rank[job])


def _shape(machine: Machine) -> str:
    return f"{machine.nodes} nodes of {machine.sockets} sockets of {machine.cores} cores"
