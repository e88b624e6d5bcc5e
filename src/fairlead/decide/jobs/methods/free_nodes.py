# SPDX-License-Identifier: Apache-2.0
"""The free cores of all nodes, and the number of the current job's ranks on each node."""

from __future__ import annotations

import numpy as np

from fairlead.simulation.job import Integers
from fairlead.simulation.machine import Machine

__all__ = ["FreeNodes"]


class FreeNodes:
    """Nodes to choose from; of equal ones the first is taken.

    Attributes:
        num_nodes: Nodes of the machine, full ones too.
        num_free: Free cores of each node, shape (N,).
        ranks_of_job: Ranks of the current job on each node, shape (N,).
        limit: Ranks of the current job that a node may hold.
    """

    def __init__(self, machine: Machine) -> None:
        free = np.zeros(machine.num_cores, dtype=bool)
        free[machine.free_cores()] = True
        self._is_free = free.reshape(machine.nodes, machine.sockets, machine.cores)
        self.num_nodes = machine.nodes
        self.num_free: Integers = self._is_free.sum(axis=(1, 2), dtype=np.int64)
        self.ranks_of_job = np.zeros(machine.nodes, dtype=np.int64)
        self.limit = self._step = machine.cores_per_node

    def begin_job(self, threshold: int) -> None:
        """The next job, of which a node may hold `threshold` ranks, at least 1."""
        self.ranks_of_job[:] = 0
        self.limit = self._step = threshold

    def num_with_free_core(self) -> int:
        """Nodes that have a free core."""
        return int(np.count_nonzero(self.num_free))

    def mean_free(self) -> float:
        """FreeCores_avg: the mean over nodes with a free core; no other is available."""
        return float(self.num_free[self.num_free > 0].mean())

    def choose(self) -> int:
        """The node with most free cores among those below the limit.

        Where all nodes with a free core are at the limit, it is raised by the threshold itself.
        A core must be free.
        """
        while True:
            num_free = np.where(self.ranks_of_job < self.limit, self.num_free, 0)
            node = int(num_free.argmax())
            if num_free[node] > 0:
                return node
            self.limit += self._step

    def has_room(self, node: int) -> bool:
        """Whether the node has a free core and is below the limit."""
        return bool(self.ranks_of_job[node] < self.limit and self.num_free[node] > 0)

    def take_core(self, node: int, first_core: int | None) -> int:
        """Take a core of the node: in the socket of `first_core`, else in the emptiest socket."""
        is_free = self._is_free[node]
        num_sockets, cores_per_socket = is_free.shape
        num_free = is_free.sum(axis=1)
        socket = int(num_free.argmax())
        if first_core is not None:
            near = first_core // cores_per_socket % num_sockets
            socket = near if num_free[near] > 0 else socket
        core = int(is_free[socket].argmax())
        is_free[socket, core] = False
        self.num_free[node] -= 1
        self.ranks_of_job[node] += 1
        return int((node * num_sockets + socket) * cores_per_socket + core)
