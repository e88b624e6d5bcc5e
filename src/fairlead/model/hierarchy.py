# SPDX-License-Identifier: Apache-2.0
"""CMPI's performance hierarchy: groups of hosts that are close for messages of one size."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead import _core
from fairlead.errors import InputError
from fairlead.model.cost import network_arrays
from fairlead.model.network import Matrix, Network

__all__ = ["Hierarchy", "build_hierarchy"]


@dataclasses.dataclass(frozen=True, eq=False)
class Hierarchy:
    """Groups of hosts on each level; the distance of two is the lowest level they share a group on.

    On each level hosts are grouped anew, so a group need not lie within one group of the next.

    Attributes:
        hosts: Host names, length H.
        levels: Group of each host on each level, shape (L, H), lowest level first; the last is
            one group of all.
        transfer_s: Time of one message per pair, shape (H, H), [src, dst], diagonal 0.
        level_of_pair: The same, discretised, shape (H, H): l for times from l to l + 1 times
            k times the least.
        latency_asymmetry_ratio: Share of pairs of hosts whose two directions differ in the level
            of their latency.
        bandwidth_asymmetry_ratio: The same for the time of a byte, whose least value is that of
            the highest bandwidth.
    """

    hosts: tuple[str, ...]
    levels: npt.NDArray[np.int64]
    transfer_s: Matrix
    level_of_pair: npt.NDArray[np.int64]
    latency_asymmetry_ratio: float
    bandwidth_asymmetry_ratio: float

    @property
    def num_levels(self) -> int:
        """Number of levels L."""
        return len(self.levels)

    def distance(self, i: int, j: int) -> int:
        """Level of the lowest common group, from 1; 0 of a host to itself."""
        if i == j:
            return 0
        return int(np.argmax(self.levels[:, i] == self.levels[:, j])) + 1

    def groups(self, level: int) -> list[list[int]]:
        """Positions of the hosts in each group of a level; level 1 is the lowest.

        Raises:
            InputError: There is no such level.
        """
        if not 1 <= level <= self.num_levels:
            raise InputError(
                f"hierarchy: there is no level {level}; there are 1..{self.num_levels}"
            )
        row = self.levels[level - 1]
        return [np.flatnonzero(row == group).tolist() for group in range(int(row.max()) + 1)]


def build_hierarchy(
    network: Network, message_bytes: float, k: float = 4, max_span: int = 1
) -> Hierarchy:
    """Group hosts by the time of one message, level by level, until one group is left.

    Args:
        network: All pairs measured. Shared groups do not count: the paper measures pairs.
        message_bytes: Size of the message: how much bandwidth counts compared with latency.
        k: A level is as wide as `k` times the least value; > 0.
        max_span: Most hosts by which the groups of a level differ in size (the paper's T_span);
            >= 0, but a difference of one host is never reduced.

    Raises:
        InputError: An argument is out of its range.
        TopologyError: A pair was not measured.

    Source: Gong, He, Zhong 2015, section 3 and Algorithms 1 and 2.
    """
    if not 0 <= message_bytes < np.inf:
        raise InputError(f"hierarchy: message_bytes: must be finite and >= 0, got {message_bytes}")
    built = _core.build_hierarchy(network_arrays(network), message_bytes, k, max_span)
    shape = (network.num_hosts, network.num_hosts)
    return Hierarchy(
        hosts=tuple(network.hosts),
        levels=np.array(built.group_of_host, dtype=np.int64),
        transfer_s=np.array(built.transfer_s).reshape(shape),
        level_of_pair=np.array(built.level_of_pair, dtype=np.int64).reshape(shape),
        latency_asymmetry_ratio=built.latency_asymmetry_ratio,
        bandwidth_asymmetry_ratio=built.bandwidth_asymmetry_ratio,
    )
