# SPDX-License-Identifier: Apache-2.0
"""What the algorithms of MPI libraries send, step by step.

Source: Thakur, Rabenseifner and Gropp 2005; Bruck et al. 1997; Chen, Zhang, Zhang and Luo 2005
(neighbour exchange); Hensgen, Finkel and Manber 1988 (barrier).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from fairlead.model.collective_messages.steps import Kind, Step, num_swapping

__all__ = ["ALGORITHMS", "Algorithm", "Call", "Sent"]


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of a collective.

    Attributes:
        num_ranks: In the communicator.
        bytes: What a rank passes to it, as of `fairlead.CollectiveCall`.
        root: Position of the root; 0 without one.
    """

    num_ranks: int
    bytes: float
    root: int = 0

    @property
    def distances(self) -> list[int]:
        """1, 2, 4, ..., below the number of ranks."""
        return [1 << power for power in range((self.num_ranks - 1).bit_length())]

    @property
    def swap_distances(self) -> list[int]:
        """1, 2, 4, ..., below the largest power of two of ranks."""
        return [1 << power for power in range(self.num_ranks.bit_length() - 1)]

    @property
    def is_power_of_two(self) -> bool:
        """Whether all ranks can swap."""
        return num_swapping(self.num_ranks) == self.num_ranks

    def part(self) -> Call:
        """The call with one of as many equal parts as there are ranks."""
        return dataclasses.replace(self, bytes=self.bytes / self.num_ranks)

    def whole(self) -> Call:
        """The call with the data of all ranks."""
        return dataclasses.replace(self, bytes=self.bytes * self.num_ranks)


class Sent(NamedTuple):
    """What each sender of a step sends in one call."""

    step: Step
    bytes: float
    messages: float = 1


Sending = Iterator[Sent]
Algorithm = Callable[[Call], Sending]


def _allgather_doubling(call: Call) -> Sending:
    """Recursive doubling; Bruck's where ranks are no power of two."""
    if not call.is_power_of_two:
        yield from _allgather_bruck(call)
        return
    for distance in call.distances:
        yield Sent(Step("swap", distance, call.root), call.bytes * distance)


def _allgather_bruck(call: Call) -> Sending:
    for distance in call.distances:
        num_blocks = min(distance, call.num_ranks - distance)
        yield Sent(Step("shift", -distance), call.bytes * num_blocks)


def _allgather_ring(call: Call) -> Sending:
    others = call.num_ranks - 1
    yield Sent(Step("shift"), call.bytes * others, others)


def _allgather_neighbours(call: Call) -> Sending:
    """To both neighbours in turns, two blocks each time; a ring where ranks are odd."""
    if call.num_ranks % 2:
        yield from _allgather_ring(call)
        return
    for direction in (1, -1):
        others = call.num_ranks - 1
        yield Sent(Step("shift", direction), call.bytes * others / 2, call.num_ranks / 4)


def _allgather_by_root(call: Call) -> Sending:
    """A gather by the root, and a broadcast."""
    yield from _tree("star", dataclasses.replace(call, root=0), is_back=True)
    yield from _tree("knomial", dataclasses.replace(call, root=0).whole())


def _allreduce_doubling(call: Call) -> Sending:
    """Recursive doubling."""
    yield from _fold(call)
    for distance in call.swap_distances:
        yield Sent(Step("swap", distance), call.bytes)
    yield from _fold(call, is_back=True)


def _allreduce_halving(call: Call) -> Sending:
    """Rabenseifner's: recursive halving, the half to the next partner, and doubling."""
    yield from _fold(call)
    for distance in call.swap_distances:
        yield Sent(Step("swap", distance), call.bytes / distance, 2)
    yield from _fold(call, is_back=True)


def _reduce_scatter_halving(call: Call) -> Sending:
    """Recursive halving, the half to the farthest partner."""
    yield from _fold(call)
    for distance in reversed(call.swap_distances):
        yield Sent(Step("swap", distance), call.bytes * distance / num_swapping(call.num_ranks))
    yield from _fold(call.part(), is_back=True)


def _reduce_scatter_ring(call: Call) -> Sending:
    yield from _allgather_ring(call.part())


def _reduce_scatter_pairwise(call: Call) -> Sending:
    """Each part straight to the rank that it is for."""
    for distance in range(1, call.num_ranks):
        yield Sent(Step("shift", distance), call.part().bytes)


def _reduce_halving(call: Call) -> Sending:
    """Rabenseifner's: recursive halving, the half to the next partner, and a gather back."""
    yield from _fold(call)
    for distance in call.swap_distances:
        yield Sent(Step("swap", distance, call.root), call.bytes / (2 * distance))
    for distance in reversed(call.swap_distances):
        step = Step("growing", distance, call.root, is_back=True)
        yield Sent(step, call.bytes / (2 * distance))


def _bcast_scatter_allgather(call: Call) -> Sending:
    """Van de Geijn's with recursive doubling."""
    yield from _scatter_binomial(call.part())
    yield from _allgather_doubling(call.part())


def _bcast_scatter_ring(call: Call) -> Sending:
    """Van de Geijn's with a ring."""
    yield from _scatter_binomial(call.part())
    yield from _allgather_ring(call.part())


def _bcast_binomial(call: Call) -> Sending:
    for distance in reversed(call.distances):
        yield Sent(Step("binomial", distance, call.root), call.bytes)


def _bcast_growing(call: Call) -> Sending:
    for distance in call.distances:
        yield Sent(Step("growing", distance, call.root), call.bytes)


def _reduce_growing(call: Call) -> Sending:
    for distance in reversed(call.distances):
        yield Sent(Step("growing", distance, call.root, is_back=True), call.bytes)


def _reduce_binomial(call: Call) -> Sending:
    for distance in call.distances:
        yield Sent(Step("binomial", distance, call.root, is_back=True), call.bytes)


def _scatter_binomial(call: Call) -> Sending:
    for distance in reversed(call.distances):
        num_blocks = _blocks_below(call, distance)
        yield Sent(Step("binomial", distance, call.root), call.bytes * num_blocks)


def _gather_binomial(call: Call) -> Sending:
    for distance in call.distances:
        num_blocks = _blocks_below(call, distance)
        yield Sent(Step("binomial", distance, call.root, is_back=True), call.bytes * num_blocks)


def _blocks_below(call: Call, distance: int) -> float:
    """Mean number of ranks below a child at this distance, itself included."""
    children = np.arange(distance, call.num_ranks, 2 * distance)
    return float(np.minimum(distance, call.num_ranks - children).mean())


def _scan_doubling(call: Call) -> Sending:
    for distance in call.distances:
        yield Sent(Step("mirror", distance), call.bytes)


def _barrier_dissemination(call: Call) -> Sending:
    for distance in call.distances:
        yield Sent(Step("shift", distance), 0)


def _tree(kind: Kind, call: Call, *, is_back: bool = False) -> Sending:
    yield Sent(Step(kind, 1, call.root, is_back), call.bytes)


def _down(kind: Kind) -> Algorithm:
    """The whole message down a tree."""
    return lambda call: _tree(kind, call)


def _up(kind: Kind) -> Algorithm:
    """The whole message of each rank, or its partial result, up a tree."""
    return lambda call: _tree(kind, call, is_back=True)


def _fold(call: Call, *, is_back: bool = False) -> Sending:
    if not call.is_power_of_two:
        yield Sent(Step("fold", root=call.root, is_back=is_back), call.bytes)


ALGORITHMS: Mapping[str, Mapping[str, Algorithm]] = {
    "allgather": {
        "doubling": _allgather_doubling,
        "bruck": _allgather_bruck,
        "ring": _allgather_ring,
        "neighbours": _allgather_neighbours,
        "by root": _allgather_by_root,
    },
    "allreduce": {"doubling": _allreduce_doubling, "halving": _allreduce_halving},
    "barrier": {"dissemination": _barrier_dissemination},
    "bcast": {
        "binomial": _bcast_binomial,
        "growing": _bcast_growing,
        "knomial": _down("knomial"),
        "star": _down("star"),
        "chain": _down("chain"),
        "scatter and allgather": _bcast_scatter_allgather,
        "scatter and ring": _bcast_scatter_ring,
    },
    "gather": {"binomial": _gather_binomial, "star": _up("star")},
    "reduce": {
        "binomial": _reduce_binomial,
        "growing": _reduce_growing,
        "knomial": _up("knomial"),
        "star": _up("star"),
        "chain": _up("chain"),
        "halving": _reduce_halving,
    },
    "reduce_scatter": {
        "halving": _reduce_scatter_halving,
        "pairwise": _reduce_scatter_pairwise,
        "ring": _reduce_scatter_ring,
    },
    "scan": {"doubling": _scan_doubling, "chain": _down("chain")},
    "scatter": {"binomial": _scatter_binomial, "star": _down("star")},
}
"""Algorithms by operation and name."""
