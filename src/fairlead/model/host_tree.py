# SPDX-License-Identifier: Apache-2.0
"""Hosts in nested groups, for clusters too large for a matrix of all pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, ShapeError, TopologyError

__all__ = ["HostTree"]


@dataclasses.dataclass(frozen=True, eq=False)
class HostTree:
    """Hosts as leaves of a tree: the cost of two hosts is that of their lowest common group.

    Attributes:
        hosts: Host names, length H.
        groups: Group of each host on each level, shape (L, H), lowest level first: racks, pods.
            Hosts in one group of a level are in one group of every higher level.
        costs: Cost inside a host, inside a group of each level, and between groups of the last:
            length L + 2, not falling, the last above 0. In any unit: only `sum` reads them.
        source: Name of the tree in errors: the file it was read from.
    """

    hosts: Sequence[str]
    groups: npt.NDArray[np.int64]
    costs: npt.NDArray[np.float64]
    source: str = "this tree"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", tuple(self.hosts))
        if not self.hosts or len(set(self.hosts)) != len(self.hosts):
            raise TopologyError("host tree: hosts: expected at least one, each named once")
        groups = np.ascontiguousarray(self.groups, dtype=np.int64).reshape(-1, len(self.hosts))
        costs = np.ascontiguousarray(self.costs, dtype=np.float64)
        if costs.shape != (len(groups) + 2,):
            raise ShapeError(
                f"host tree: costs: expected {len(groups) + 2} for {len(groups)} levels, "
                f"got shape {costs.shape}"
            )
        if not (np.all(np.isfinite(costs)) and np.all(np.diff(costs) >= 0)):
            raise InputError("host tree: costs: each must be finite and at least the one before")
        if costs[0] < 0 or costs[-1] <= 0:
            raise InputError("host tree: costs: none may be negative, and the last must be > 0")
        for level in range(len(groups) - 1):
            pairs = np.unique(groups[level : level + 2].T, axis=0)
            if len(pairs) != len(np.unique(pairs[:, 0])):
                raise TopologyError(
                    f"host tree: groups: one of level {level} lies in two of level {level + 1}"
                )
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "costs", costs)

    @property
    def num_hosts(self) -> int:
        """Number of hosts H."""
        return len(self.hosts)

    def select(self, hosts: Sequence[str]) -> HostTree:
        """The same tree for these hosts, in this order.

        Raises:
            TopologyError: One of them is not in the tree.
        """
        position = {host: index for index, host in enumerate(self.hosts)}
        try:
            rows = [position[host] for host in hosts]
        except KeyError as error:
            raise TopologyError(f"host {error.args[0]!r} is not in {self.source}") from None
        return HostTree(hosts, self.groups[:, rows], self.costs, self.source)

    def pair_costs(self, metric: str) -> npt.NDArray[np.float64]:
        """Cost of every pair of hosts, whatever the metric, shape (H, H); for small trees."""
        del metric
        return self.cost(*np.indices((self.num_hosts, self.num_hosts)))

    def cost(
        self, src: npt.NDArray[np.int64], dst: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Cost between hosts by their positions.

        Args:
            src: Any shape.
            dst: The same shape.

        Returns:
            The same shape.
        """
        level = np.full(np.shape(src), len(self.costs) - 1)
        for index in range(len(self.groups) - 1, -1, -1):
            level = np.where(self.groups[index][src] == self.groups[index][dst], index + 1, level)
        return np.asarray(self.costs[np.where(np.equal(src, dst), 0, level)])
