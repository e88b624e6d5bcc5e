# SPDX-License-Identifier: Apache-2.0
"""CMPI's performance hierarchy: nested groups of hosts that are close for messages of one size."""

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
    """Groups within groups; the distance of two hosts is the level of their lowest common group.

    Attributes:
        hosts: Host names, length H.
        levels: Group of each host on each level, shape (L, H), lowest level first; the last is
            one group of all.
        transfer_s: Time of one message per pair, shape (H, H), [src, dst], diagonal 0; where
            pairs share a bottleneck, while all hosts that send through it do.
        level_of_pair: The same, discretised, shape (H, H): l for times from k**l to k**(l + 1)
            times the least.
        asymmetry_ratio: Share of pairs of hosts whose two directions differ in level.
    """

    hosts: tuple[str, ...]
    levels: npt.NDArray[np.int64]
    transfer_s: Matrix
    level_of_pair: npt.NDArray[np.int64]
    asymmetry_ratio: float

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
    """Group hosts by the time of one message, then groups of them, until one is left.

    Args:
        network: All pairs measured; its shared groups count.
        message_bytes: Size of the message: how much bandwidth counts beside latency.
        k: A level is this many times as slow as the one before; > 1.
        max_span: Most levels between the fastest and the slowest pair of a group; >= 0. The last
            level is one group whatever its span.

    Raises:
        InputError: An argument is out of its range.
        TopologyError: A pair was not measured.

    Source: Gong, He, Zhong 2015, Algorithms 1 and 2.
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
        asymmetry_ratio=built.asymmetry_ratio,
    )
