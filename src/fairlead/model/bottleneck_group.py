# SPDX-License-Identifier: Apache-2.0
"""Pairs of hosts behind one bottleneck, and their form in a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, ShapeError
from fairlead.files.archive import Archive

__all__ = ["BottleneckGroup"]

_PAIRS = "group_pairs"
_CAPACITY = "group_capacity_Bps"
_CONFIDENCE = "group_confidence_ratio"
TABLE_OF_GROUPS = (_PAIRS, _CAPACITY, _CONFIDENCE)
"""Arrays of a file that has groups."""


@dataclasses.dataclass(frozen=True, eq=False)
class BottleneckGroup:
    """Directed pairs of hosts whose flows share one bottleneck.

    Attributes:
        pairs: Positions of source and destination, shape (P, 2), each pair once.
        capacity_Bps: What all of them carry together, in bytes per second.
        capacity_low_Bps, capacity_high_Bps: Confidence interval of the capacity; `nan` where
            there is none.
        confidence_ratio: Confidence that they share one, 0 to 1.
    """

    pairs: npt.NDArray[np.int64]
    capacity_Bps: float
    capacity_low_Bps: float = float("nan")
    capacity_high_Bps: float = float("nan")
    confidence_ratio: float = 1.0

    def __post_init__(self) -> None:
        pairs = np.ascontiguousarray(self.pairs, dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.shape[0] == 0:
            raise ShapeError(f"bottleneck group: pairs: expected shape (P, 2), got {pairs.shape}")
        if pairs.min() < 0 or np.any(pairs[:, 0] == pairs[:, 1]):
            raise InputError(
                "bottleneck group: pairs: each must be two different hosts, counted from 0"
            )
        # One number for each pair: NumPy takes ten times as long to compare rows.
        if len(np.unique(pairs[:, 0] * (pairs.max() + 1) + pairs[:, 1])) != len(pairs):
            raise InputError("bottleneck group: pairs: one is named twice")
        if not (np.isfinite(self.capacity_Bps) and self.capacity_Bps > 0):
            raise InputError(
                f"bottleneck group: capacity_Bps: must be finite and > 0, got {self.capacity_Bps}"
            )
        if not 0 <= self.confidence_ratio <= 1:
            raise InputError(
                f"bottleneck group: confidence_ratio: must be in 0..1, got {self.confidence_ratio}"
            )
        object.__setattr__(self, "pairs", pairs)

    @property
    def src_hosts(self) -> list[int]:
        """Positions of the hosts that send through it, ascending."""
        return sorted(set(self.pairs[:, 0].tolist()))

    @property
    def dst_hosts(self) -> list[int]:
        """Positions of the hosts that receive through it, ascending."""
        return sorted(set(self.pairs[:, 1].tolist()))

    def select(self, hosts: npt.NDArray[np.int64]) -> BottleneckGroup | None:
        """The same bottleneck for these hosts only, or None if no two of them share it.

        Args:
            hosts: Positions of the hosts that stay, in their new order.
        """
        position = {int(host): index for index, host in enumerate(hosts)}
        kept = [
            (position[src], position[dst])
            for src, dst in self.pairs.tolist()
            if src in position and dst in position
        ]
        if not kept:
            return None
        return dataclasses.replace(self, pairs=np.array(kept, dtype=np.int64))


def rows_of_pairs(groups: Sequence[BottleneckGroup]) -> npt.NDArray[np.int64]:
    """A row (group, src, dst) for each pair of each group, shape (P, 3)."""
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(group.pairs for group in groups)])
    number = np.repeat(np.arange(len(groups)), [len(group.pairs) for group in groups])
    return np.column_stack([number, pairs])


def table_of_groups(groups: Sequence[BottleneckGroup]) -> dict[str, npt.NDArray[Any]]:
    """The groups as arrays: a row (group, src, dst) per pair, a row of capacities per group."""
    if not groups:
        return {}
    capacities = [
        (group.capacity_Bps, group.capacity_low_Bps, group.capacity_high_Bps) for group in groups
    ]
    return {
        _PAIRS: rows_of_pairs(groups),
        _CAPACITY: np.array(capacities),
        _CONFIDENCE: np.array([group.confidence_ratio for group in groups]),
    }


def groups_from_table(archive: Archive, num_hosts: int) -> list[BottleneckGroup]:
    """The groups of a file; none where it has no such arrays.

    Raises:
        InputError: An array has another shape, or names a group or a host that is not there.
    """
    if _PAIRS not in archive:
        return []
    rows = archive.array(_PAIRS, (-1, 3), is_whole=True)
    capacity_Bps = archive.array(_CAPACITY, (-1, 3))
    num_groups = len(capacity_Bps)
    confidence_ratio = archive.array(_CONFIDENCE, (num_groups,))
    if set(rows[:, 0].tolist()) != set(range(num_groups)):
        raise archive.error(_PAIRS, f"does not name each of the {num_groups} groups")
    if rows[:, 1:].min(initial=0) < 0 or rows[:, 1:].max(initial=0) >= num_hosts:
        raise archive.error(_PAIRS, f"names a host outside 0..{num_hosts - 1}")
    return [
        BottleneckGroup(
            pairs=rows[rows[:, 0] == index][:, 1:].astype(np.int64),
            capacity_Bps=float(capacity_Bps[index, 0]),
            capacity_low_Bps=float(capacity_Bps[index, 1]),
            capacity_high_Bps=float(capacity_Bps[index, 2]),
            confidence_ratio=float(confidence_ratio[index]),
        )
        for index in range(num_groups)
    ]
