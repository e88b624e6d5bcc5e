# SPDX-License-Identifier: Apache-2.0
"""Dimension-ordered routes of a torus: X, then Y, then Z, the shorter way round.

Source: ORACLE, section II. Where both directions are as long, + if the destination's coordinate in
that dimension is even, - if it is odd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.model.topology.routes import (
    NO_LINK,
    HostIndex,
    LinkIndex,
    Reducer,
    Reduction,
    Routes,
    Values,
)

__all__ = ["PLUS_AND_MINUS", "TorusRoutes"]

PLUS_AND_MINUS = (1, -1)
"""Steps of the two directions of a dimension, in the order of `link_of_step`."""


class TorusRoutes(Routes):
    """Routes on a grid of routers that is closed to rings, in all dimensions or in some.

    Nothing is kept for a pair: a route is a piece of one line in each dimension, so that the
    reductions of all pieces of all lines serve every pair.
    """

    kind = "torus"

    def __init__(
        self,
        sizes: Sequence[int],
        position_of_host: npt.ArrayLike,
        link_of_step: npt.ArrayLike,
        is_ring: Sequence[bool] | None = None,
    ):
        """Routes on a grid.

        Args:
            sizes: Routers in each dimension, length D.
            position_of_host: Coordinates of the router of each host, shape (H, D).
            link_of_step: Link by which a message leaves a router in each dimension and direction
                (plus, minus), shape (D, 2, *sizes); NO_LINK where there is none.
            is_ring: Whether each dimension is closed, length D; by default all are.
        """
        self.sizes = tuple(int(size) for size in sizes)
        self.position_of_host = np.ascontiguousarray(position_of_host, dtype=np.int32)
        self.link_of_step: LinkIndex = np.ascontiguousarray(link_of_step, dtype=np.int32)
        self.is_ring = tuple(is_ring) if is_ring is not None else (True,) * len(self.sizes)
        shape = (len(self.sizes), 2, *self.sizes)
        if self.link_of_step.shape != shape:
            raise InputError(f"torus: expected links of shape {shape}")
        inside = (self.position_of_host >= 0) & (self.position_of_host < np.array(self.sizes))
        if not np.all(inside):
            raise InputError(f"torus: a host is outside of the grid {self.sizes}")

    def steps(self, dimension: int) -> npt.NDArray[np.int64]:
        """Signed steps from each coordinate to each along a line, shape (size, size).

        The shorter way round; where both are as long, plus to an even coordinate and minus to
        an odd one.
        """
        size = self.sizes[dimension]
        src, dst = np.indices((size, size))
        if not self.is_ring[dimension]:
            return np.asarray(dst - src)
        plus = (dst - src) % size
        minus = (src - dst) % size
        is_plus = (plus < minus) | ((plus == minus) & (dst % 2 == 0))
        return np.asarray(np.where(is_plus, plus, -minus))

    def route(self, src: int, dst: int) -> LinkIndex:
        """Links from host to host in their order."""
        at, end = self.position_of_host[src].copy(), self.position_of_host[dst]
        links = []
        for dimension, size in enumerate(self.sizes):
            count = int(self.steps(dimension)[at[dimension], end[dimension]])
            for _ in range(abs(count)):
                links.append(self.link_of_step[(dimension, int(count < 0), *at)])
                at[dimension] = (at[dimension] + np.sign(count)) % size
        return np.array(links, dtype=np.int32)

    def reducer(self, value_of_link: Values, reduction: Reduction) -> Reducer:
        """Prepares the pieces of every line, shape (D, *sizes, size of the dimension)."""
        pieces = [
            self._pieces(dimension, value_of_link, reduction)
            for dimension in range(len(self.sizes))
        ]

        def reduce(src: HostIndex, dst: HostIndex) -> Values:
            at = [self.position_of_host[src, axis] for axis in range(len(self.sizes))]
            result = np.full(np.shape(src), reduction.neutral)
            for dimension, piece in enumerate(pieces):
                end = self.position_of_host[dst, dimension]
                result = reduction.combine(result, piece[(*at, end)])
                at[dimension] = end
            return result

        return reduce

    def _pieces(self, dimension: int, value_of_link: Values, reduction: Reduction) -> Values:
        """The reduction from each router to each coordinate of its line, shape (*sizes, size)."""
        size = self.sizes[dimension]
        steps = self.steps(dimension)
        # The line comes last, so that each step below is one on whole lines.
        shape = [length for axis, length in enumerate(self.sizes) if axis != dimension]
        result = np.full((*shape, size, size), reduction.neutral)
        for direction, step in enumerate(PLUS_AND_MINUS):
            value = value_of_link[self.link_of_step[dimension, direction]]
            value = np.moveaxis(value, dimension, -1)
            running = np.full(value.shape, reduction.neutral)
            start = np.arange(size)
            for distance in range(1, size):
                reached = start + step * distance
                # Where no ring is, what runs over the end is never a way, and is left out below.
                running = reduction.combine(running, value[..., (reached - step) % size])
                is_way = steps[start, reached % size] == step * distance
                result[..., start[is_way], (reached % size)[is_way]] = running[..., is_way]
        return np.moveaxis(result, -2, dimension)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a file keeps of it."""
        return {
            "position_of_host": self.position_of_host,
            "link_of_step": self.link_of_step,
            "is_ring": np.array(self.is_ring, dtype=np.int8),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], num_links: int) -> TorusRoutes:
        """From what a file kept."""
        links = arrays["link_of_step"]
        if links.ndim < 3 or links.min(initial=0) < NO_LINK or links.max(initial=0) >= num_links:
            raise InputError("link_of_step: names a link that is not there")
        return cls(
            links.shape[2:],
            arrays["position_of_host"],
            links,
            [bool(is_ring) for is_ring in arrays["is_ring"]],
        )
