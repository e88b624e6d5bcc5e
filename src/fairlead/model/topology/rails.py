# SPDX-License-Identifier: Apache-2.0
"""Routes between hosts that have several links into a network, as rails of InfiniBand."""

from __future__ import annotations

from collections.abc import Mapping
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
from fairlead.model.topology.table import MOST_SWITCHES, TableRoutes

__all__ = ["RailRoutes"]

FAR = np.iinfo(np.int16).max
"""Links to where no route leads."""

PIECE = 2**16
"""Pairs whose rails are compared at a time: some 10 MB for eight rails."""


class RailRoutes(Routes):
    """Tables between adapters; a pair of hosts takes those adapters that are fewest links apart.

    Where several are as near, pairs of hosts take them in turn.
    """

    kind = "table of rails"

    def __init__(self, adapters: TableRoutes, adapter_of_rail: npt.ArrayLike):
        """Routes between hosts.

        Args:
            adapters: Routes between adapters, each of which sends by one link of its own.
            adapter_of_rail: Adapters of each host, shape (H, R); NO_LINK where it has fewer.
        """
        self.adapters = adapters
        self.adapter_of_rail = np.ascontiguousarray(adapter_of_rail, dtype=np.int32)
        self._num_links = _links_to_adapters(adapters)

    def route(self, src: int, dst: int) -> LinkIndex:
        """Links from host to host in their order."""
        if src == dst:
            return np.zeros(0, dtype=np.int32)
        one, other = self._adapters_of(np.array([src]), np.array([dst]))
        return self.adapters.route(int(one[0]), int(other[0]))

    def reducer(self, value_of_link: Values, reduction: Reduction) -> Reducer:
        """Prepares what the tables do."""
        between_adapters = self.adapters.reducer(value_of_link, reduction)

        def reduce(src: HostIndex, dst: HostIndex) -> Values:
            shape = np.shape(src)
            src, dst = np.ravel(src), np.ravel(dst)
            result = np.empty(len(src))
            for begin in range(0, len(src), PIECE):
                part = slice(begin, begin + PIECE)
                result[part] = between_adapters(*self._adapters_of(src[part], dst[part]))
            return result.reshape(shape)

        return reduce

    def _adapters_of(self, src: HostIndex, dst: HostIndex) -> tuple[HostIndex, HostIndex]:
        """Sending and receiving adapter of each pair of hosts; the same one inside a host."""
        ways = [
            (self.adapter_of_rail[src, sending], self.adapter_of_rail[dst, receiving])
            for sending in range(self.adapter_of_rail.shape[1])
            for receiving in range(self.adapter_of_rail.shape[1])
        ]
        one, other = (np.array(ends, dtype=np.int64) for ends in zip(*ways, strict=True))
        count = self._num_links[self.adapters.switch_of_host[one], other]
        # An end that is not there is farther than one without a path: it is never chosen.
        count = np.where((one == NO_LINK) | (other == NO_LINK), FAR + 1, count.astype(np.int32))
        is_best = count == count.min(axis=0)
        is_best[:, src == dst] = False
        is_best[0, src == dst] = True
        turn = (src + dst) % is_best.sum(axis=0)
        chosen = (np.cumsum(is_best, axis=0) > turn).argmax(axis=0)
        pair = np.arange(len(src))
        return one[chosen, pair], other[chosen, pair]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a file keeps of it."""
        return {**self.adapters.arrays(), "adapter_of_rail": self.adapter_of_rail}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], num_links: int) -> RailRoutes:
        """From what a file kept."""
        adapters = TableRoutes.from_arrays(arrays, num_links)
        rails = arrays["adapter_of_rail"]
        if (
            rails.ndim != 2
            or not rails.size
            or rails[:, 0].min() < 0
            or rails.min() < NO_LINK
            or rails.max() >= len(adapters.switch_of_host)
        ):
            raise InputError("adapter_of_rail: names what is not there")
        return cls(adapters, rails)


def _links_to_adapters(adapters: TableRoutes) -> npt.NDArray[np.int16]:
    """Links from each switch to each adapter, shape (S, A); FAR where no route leads."""
    next_link = adapters.next_link
    after = adapters.switch_after_link[next_link]
    has_arrived = (next_link != NO_LINK) & (after == NO_LINK)
    count = np.where(has_arrived, 1, FAR).astype(np.int16)
    goes_on = (next_link != NO_LINK) & ~has_arrived
    column = np.broadcast_to(np.arange(next_link.shape[1]), next_link.shape)
    for _ in range(MOST_SWITCHES):
        beyond = count[np.where(goes_on, after, 0), column]
        further = np.where(goes_on & (beyond < FAR), beyond + 1, count)
        if np.array_equal(further, count):
            break
        count = further.astype(np.int16)
    return count
