# SPDX-License-Identifier: Apache-2.0
"""Bytes between ranks of neighbourhood collectives in an OTF2 trace, in Cartesian topologies.

Source: MPI 4.0, section 8.6: neighbours are those at a distance of 1 in each dimension, and none
beyond an edge; section 8.5: the last dimension varies first.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Neighbourhood", "add_neighbourhoods", "neighbours"]


class Neighbourhood(NamedTuple):
    """Calls of one rank of a grid; bytes are those for all its neighbours together.

    Attributes:
        operation: As MPI names it, for example "neighbor_alltoall".
        communicator: Its index.
        sides: Ranks in each dimension.
        wraps: Whether each is periodic.
        position: The rank's, in the communicator.
        calls: How many.
        seconds: Time spent in them.
        sent: Bytes.
        received: Bytes.
        num_sent: How many calls were not empty.
        max_bytes: The most that it sent in a call.
    """

    operation: str
    communicator: int
    sides: tuple[int, ...]
    wraps: tuple[bool, ...]
    position: int
    calls: int
    seconds: float
    sent: int
    received: int
    num_sent: int
    max_bytes: int

    @classmethod
    def from_row(cls, row: Sequence[object]) -> Neighbourhood:
        """What the program for the events printed."""
        operation, communicator, sides, wraps, *rest = row
        return cls(operation, communicator, tuple(sides), tuple(wraps), *rest)  # type: ignore[arg-type]

    @property
    def neighbours(self) -> tuple[int, ...]:
        """Positions of those that it sends to."""
        return neighbours(self.position, self.sides, self.wraps)

    @property
    def name(self) -> str:
        """The blocking operation."""
        return self.operation.removeprefix("i")

    @property
    def mean_bytes(self) -> int:
        """The send buffer of a call: one part in an allgather, that of each in an alltoall."""
        num_parts = len(self.neighbours) if "allgather" in self.name else 1
        return round(self.sent / (self.calls * max(num_parts, 1)))

    @property
    def is_uneven(self) -> bool:
        """Whether each neighbour may have got another part."""
        return self.name in {"neighbor_alltoallv", "neighbor_alltoallw"}


@functools.lru_cache(maxsize=2**16)
def neighbours(position: int, sides: Sequence[int], wraps: Sequence[bool]) -> tuple[int, ...]:
    """Those below and above in each dimension; one that is both comes twice."""
    found = []
    for axis, (side, does_wrap) in enumerate(zip(sides, wraps, strict=True)):
        stride = math.prod(sides[axis + 1 :])
        at = position // stride % side
        for there in (at - 1, at + 1):
            if does_wrap or 0 <= there < side:
                found.append(position + (there % side - at) * stride)
    return tuple(found)


def add_neighbourhoods(
    matrices: Sequence[sp.csr_array],
    rows: Iterable[Neighbourhood],
    communicators: Sequence[Sequence[int]],
) -> list[sp.csr_array]:
    """Bytes, messages and the largest message of each pair of ranks with these calls."""
    sums: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        ranks = communicators[row.communicator]
        receivers = row.neighbours
        for receiver in receivers if row.sent else ():
            of_pair = sums.setdefault((ranks[row.position], ranks[receiver]), [0.0, 0.0, 0.0])
            of_pair[0] += row.sent / len(receivers)
            of_pair[1] += row.num_sent
            of_pair[2] = max(of_pair[2], row.max_bytes / len(receivers))
    if not sums:
        return list(matrices)
    src, dst = np.array(list(sums), np.int32).T
    planes = np.array(list(sums.values())).T
    shape = matrices[0].shape
    added = [sp.csr_array(sp.coo_array((plane, (src, dst)), shape=shape)) for plane in planes]
    return [matrices[0] + added[0], matrices[1] + added[1], matrices[2].maximum(added[2])]
