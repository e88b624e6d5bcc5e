# SPDX-License-Identifier: Apache-2.0
"""The cluster that a simulation runs on: equal nodes of sockets of cores, and their rates."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from fairlead.errors import TopologyError
from fairlead.simulation.checks import require_within

__all__ = ["Machine"]

_MOST_CORES = 2**20

# Wide enough for any use, and computed values do not overflow.
_RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("nodes", "sockets", "cores"), (1, _MOST_CORES)),
    **dict.fromkeys(("nic_Bps", "memory_Bps", "cache_Bps"), (1, 1e16)),
    "remote_memory_ratio": (0, 1e6),
    "largest_cache_bytes": (0, 2**50),
    "switch_s": (0, 1),
    "compute_Mops": (1e-6, 1e16),
}

_SPEEDS = (1e-3, 1e3)


@dataclasses.dataclass(frozen=True)
class Machine:
    """Equal nodes. Cores are numbered node by node, socket by socket.

    Attributes:
        nodes: Number of nodes.
        sockets: Sockets of each node.
        cores: Cores of each socket.
        nic_Bps: Rate of a node's network interface, for each direction.
        memory_Bps: Rate of a socket's memory.
        remote_memory_ratio: How much longer a transfer between sockets takes: 0.1 is 10 %.
        cache_Bps: Rate of a transfer through the cache of a socket, where messages do not wait.
        largest_cache_bytes: Larger messages inside a socket go through its memory.
        switch_s: From one network interface to another, in seconds.
        compute_Mops: Million operations per second of one core: the run times of recorded
            benchmarks, and so their rates.
        taken: Cores that are not free, ascending.
        node_speeds: Nodes whose cores compute at another speed, as a part of the others'.

    Source: SPREAD section 5.1 and table 1 for the defaults; `cache_Bps` and `compute_Mops` are
    assumed.
    """

    nodes: int = 16
    sockets: int = 4
    cores: int = 4
    nic_Bps: float = 1e9
    memory_Bps: float = 4e9
    remote_memory_ratio: float = 0.1
    cache_Bps: float = 4e9
    largest_cache_bytes: int = 2**20
    switch_s: float = 100e-9
    compute_Mops: float = 100.0
    taken: tuple[int, ...] = ()
    node_speeds: Mapping[int, float] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for field, (least, most) in _RANGES.items():
            require_within(field, getattr(self, field), least, most)
        require_within("nodes * sockets * cores", self.num_cores, 1, _MOST_CORES)
        object.__setattr__(self, "taken", tuple(sorted({int(core) for core in self.taken})))
        for core in self.taken:
            if not 0 <= core < self.num_cores:
                raise TopologyError(f"taken: core {core} is not one of 0 to {self.num_cores - 1}")

        speeds = {int(node): float(speed) for node, speed in self.node_speeds.items()}
        object.__setattr__(self, "node_speeds", speeds)
        for node, speed in speeds.items():
            if not 0 <= node < self.nodes:
                raise TopologyError(f"node_speeds: there is no node {node} of {self.nodes}")
            require_within(f"node_speeds: node {node}", speed, *_SPEEDS)

    @property
    def cores_per_node(self) -> int:
        """Cores of each node."""
        return self.sockets * self.cores

    @property
    def num_cores(self) -> int:
        """Cores of all nodes."""
        return self.nodes * self.cores_per_node

    def free_cores(self) -> npt.NDArray[np.int64]:
        """Cores that may be used, ascending."""
        return np.setdiff1d(np.arange(self.num_cores, dtype=np.int64), np.array(self.taken))

    def slowest_speed(self, cores: npt.NDArray[np.int64]) -> float:
        """Speed of the slowest node that these cores are on: it decides the steps of a job."""
        if not self.node_speeds:
            return 1.0
        used = set(self.node_of_core(cores).tolist())
        return min(self.node_speeds.get(node, 1.0) for node in used)

    def node_of_core(self, core: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Node of each core, same shape."""
        return core // self.cores_per_node

    def socket_of_core(self, core: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Socket of each core, counted over all nodes, same shape."""
        return core // self.cores

    def server_names(self) -> list[str]:
        """Names of the servers, in the order in which the simulator numbers them."""
        nodes = range(self.nodes)
        sockets = [f"node{node}.socket{socket}" for node in nodes for socket in range(self.sockets)]
        return [
            *(f"node{node}.nic.send" for node in nodes),
            *(f"node{node}.nic.receive" for node in nodes),
            *(f"{socket}.memory" for socket in sockets),
            *(f"{socket}.cache" for socket in sockets),
        ]
