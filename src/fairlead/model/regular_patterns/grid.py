# SPDX-License-Identifier: Apache-2.0
"""Rings and Cartesian grids: each rank sends to those at the same distances from it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.model.regular_patterns.pattern import Pairs, RegularPattern

__all__ = ["Grid", "balanced_sides", "grid_patterns"]

MOST_DIMENSIONS = 3
MOST_STEPS = 2
"""A neighbour is at most so many steps away in each dimension."""
LEAST_SIDE = 3
"""With two ranks in a dimension both neighbours are one, so it does not show whether it wraps."""

Offset = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Grid:
    """Ranks in a grid, the last dimension first, as MPI_Cart_create has them (MPI 4.0, 8.5.1).

    Attributes:
        sides: Ranks in each dimension when it was recorded.
        wraps: Whether each dimension is periodic.
        offsets: Steps to the neighbours in each dimension, one class each.
        is_reversed: Whether the sides ascend; MPI_Dims_create makes them descend.
    """

    sides: tuple[int, ...]
    wraps: tuple[bool, ...]
    offsets: tuple[Offset, ...]
    is_reversed: bool = False

    @property
    def name(self) -> str:
        """For a user."""
        if len(self.sides) == 1:
            return "a ring" if self.wraps[0] else "a chain"
        sides = "x".join(map(str, self.sides))
        return f"a {'torus' if all(self.wraps) else 'grid'} of {sides}"

    @property
    def num_classes(self) -> int:
        """One for each offset."""
        return len(self.offsets)

    def pairs(self, num_ranks: int) -> Pairs | None:
        """All neighbours in the grid that MPI_Dims_create would make for so many ranks.

        None where it makes one with a side of 1.
        """
        sides = balanced_sides(num_ranks, len(self.sides))
        if self.is_reversed:
            sides = sides[::-1]
        if num_ranks == int(np.prod(self.sides)):
            sides = self.sides
        if min(sides) < 2:
            return None
        coordinates = np.stack(np.unravel_index(np.arange(num_ranks), sides), axis=1)
        parts = [
            self._neighbours(coordinates, sides, offset, kind)
            for kind, offset in enumerate(self.offsets)
        ]
        src, dst, kind = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Pairs(src, dst, kind, np.array([self._scale(sides, one) for one in self.offsets]))

    def _neighbours(
        self, coordinates: npt.NDArray[np.int64], sides: Sequence[int], offset: Offset, kind: int
    ) -> tuple[npt.NDArray[np.int64], ...]:
        there = coordinates + np.array(offset)
        is_inside = np.all(((there >= 0) & (there < sides)) | np.array(self.wraps), axis=1)
        src = np.flatnonzero(is_inside)
        dst = np.ravel_multi_index(tuple((there[src] % sides).T), tuple(sides))
        return src, dst.astype(np.int64), np.full(len(src), kind)

    def _scale(self, sides: Sequence[int], offset: Offset) -> float:
        """The face between neighbours of a domain divided among the ranks, against before.

        It extends along the dimensions in which both have the same coordinate.
        """
        along = [at for at, steps in enumerate(offset) if steps == 0]
        return float(np.prod([self.sides[at] / sides[at] for at in along]))


def balanced_sides(num_ranks: int, num_dimensions: int) -> tuple[int, ...]:
    """Sides as near to one another as possible, descending, as MPI_Dims_create (MPI 4.0, 8.5.2)."""
    found = _factorisations(num_ranks, num_dimensions, least=1)
    descending = {tuple(sorted(sides, reverse=True)) for sides in found}
    return min(descending, key=lambda sides: (sides[0] - sides[-1], sides))


def grid_patterns(matrix: sp.csr_array) -> Iterator[RegularPattern]:
    """All grids of which most pairs are neighbours, those with the fewest dimensions first.

    Only grids whose sides are those of MPI_Dims_create can be made for another number of ranks.
    """
    num_ranks = matrix.shape[0]
    if matrix.nnz > num_ranks * (2 * MOST_STEPS + 1) ** MOST_DIMENSIONS:
        return
    pairs = matrix.tocoo()
    for num_dimensions in range(1, MOST_DIMENSIONS + 1):
        sides = balanced_sides(num_ranks, num_dimensions)
        if min(sides) < LEAST_SIDE:
            continue
        for one in dict.fromkeys([sides, sides[::-1]]):
            if (grid := _fit(one, pairs, is_reversed=one != sides)) is not None:
                yield grid


def _fit(sides: tuple[int, ...], pairs: sp.coo_array, *, is_reversed: bool) -> Grid | None:
    """The grid of these sides with the offsets that occur; None where they are no neighbours."""
    src = np.stack(np.unravel_index(pairs.row, sides), axis=1)
    dst = np.stack(np.unravel_index(pairs.col, sides), axis=1)
    straight = dst - src
    half = np.array(sides) // 2
    steps = (straight + half) % np.array(sides) - half
    # Half of an even side is as far in both directions.
    is_near = np.all(np.abs(steps) <= MOST_STEPS, axis=1) & np.any(steps != 0, axis=1)
    if pairs.data[is_near].sum() < 0.95 * pairs.data.sum():
        return None
    steps, straight = steps[is_near], straight[is_near]
    wraps = tuple(bool(np.any(steps[:, at] != straight[:, at])) for at in range(len(sides)))
    offsets, counts = np.unique(steps, axis=0, return_counts=True)
    # What only a few ranks do is not the pattern; the fit shows whether it matters.
    common = offsets[counts >= 0.5 * counts.max()]
    found = tuple(tuple(int(step) for step in offset) for offset in common)
    return Grid(sides, wraps, found, is_reversed)


def _factorisations(number: int, count: int, *, least: int) -> Iterator[tuple[int, ...]]:
    """All ordered ways to write a number as a product of so many factors."""
    if count == 1:
        yield (number,)
        return
    for first in itertools.takewhile(lambda one: one <= number, itertools.count(least)):
        if number % first == 0:
            for rest in _factorisations(number // first, count - 1, least=least):
                yield (first, *rest)
