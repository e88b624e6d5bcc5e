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
    """

    def __init__(self, machine: Machine) -> None:
        free = np.zeros(machine.num_cores, dtype=bool)
        free[machine.free_cores()] = True
        self._is_free = free.reshape(machine.nodes, machine.sockets, machine.cores)
        self.num_nodes = machine.nodes
        self.num_free: Integers = self._is_free.sum(axis=(1, 2), dtype=np.int64)
        self.ranks_of_job = np.zeros(machine.nodes, dtype=np.int64)

    def num_with_free_core(self) -> int:
        """Nodes that have a free core."""
        return int(np.count_nonzero(self.num_free))

    def mean_free(self) -> float:
        """FreeCores_avg: the mean over nodes with a free core; others cannot be chosen."""
        return float(self.num_free[self.num_free > 0].mean())

    def emptiest(self, threshold: int) -> int | None:
        """The node with most free cores among those below the threshold."""
        num_free = np.where(self.ranks_of_job < threshold, self.num_free, 0)
        node = int(num_free.argmax())
        return node if num_free[node] > 0 else None

    def has_room(self, node: int, threshold: int) -> bool:
        """Whether the node has a free core and is below the threshold."""
        return bool(self.ranks_of_job[node] < threshold and self.num_free[node] > 0)

    def take_core(self, node: int, beside: int | None) -> int:
        """Take a core of the node: in the socket of core `beside`, else in the emptiest socket."""
        is_free = self._is_free[node]
        num_sockets, cores_per_socket = is_free.shape
        num_free = is_free.sum(axis=1)
        socket = int(num_free.argmax())
        if beside is not None:
            near = beside // cores_per_socket % num_sockets
            socket = near if num_free[near] > 0 else socket
        core = int(is_free[socket].argmax())
        is_free[socket, core] = False
        self.num_free[node] -= 1
        self.ranks_of_job[node] += 1
        return int((node * num_sockets + socket) * cores_per_socket + core)
