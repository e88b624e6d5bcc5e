# SPDX-License-Identifier: Apache-2.0
"""Routes by forwarding tables: each switch has a link for each host that a message may go to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, TopologyError
from fairlead.model.topology.routes import (
    NO_LINK,
    HostIndex,
    LinkIndex,
    Reducer,
    Reduction,
    Routes,
    Values,
)

__all__ = ["TableRoutes"]

MOST_SWITCHES = 64
"""On one route; more is taken for a loop. No network in use has routes of a quarter of it."""


class _Lost(NamedTuple):
    """Pairs whose routes end early.

    Attributes:
        pairs: Their positions among those asked about.
        switch: Where the first of them ends.
        reason: How.
    """

    pairs: npt.NDArray[np.int64]
    switch: int
    reason: str


class TableRoutes(Routes):
    """Routes as InfiniBand's: what counts is where a message is and where it goes."""

    kind = "table"

    def __init__(
        self,
        switch_of_host: npt.ArrayLike,
        link_from_host: npt.ArrayLike,
        next_link: npt.ArrayLike,
        switch_after_link: npt.ArrayLike,
    ):
        """Routes by tables.

        Args:
            switch_of_host: Shape (H,).
            link_from_host: Link from each host to its switch, shape (H,); NO_LINK where hosts sit
                on their switch.
            next_link: Link that each switch sends on towards each host, shape (S, H); NO_LINK
                where it has arrived or no way is known.
            switch_after_link: Switch that each link leads to, shape (L,); NO_LINK for a host.
        """
        self.switch_of_host = np.ascontiguousarray(switch_of_host, dtype=np.int32)
        self.link_from_host = np.ascontiguousarray(link_from_host, dtype=np.int32)
        self.next_link: LinkIndex = np.ascontiguousarray(next_link, dtype=np.int32)
        self.switch_after_link = np.ascontiguousarray(switch_after_link, dtype=np.int32)

    def route(self, src: int, dst: int) -> LinkIndex:
        """Links from host to host in their order."""
        steps, lost = self._walk(np.array([src]), np.array([dst]))
        if lost:
            raise TopologyError(
                f"routes: the one from host {src} to host {dst} {lost[0].reason} on switch "
                f"{lost[0].switch}"
            )
        return np.array([link[0] for link in steps], dtype=np.int32)

    def reducer(self, value_of_link: Values, reduction: Reduction) -> Reducer:
        """Prepares nothing: every query walks, all its routes at once; `nan` without a route."""

        def reduce(src: HostIndex, dst: HostIndex) -> Values:
            shape = np.shape(src)
            result = np.full(int(np.prod(shape)), reduction.neutral)
            value = value_of_link.copy()
            value[-1] = reduction.neutral
            steps, lost = self._walk(np.ravel(src), np.ravel(dst))
            for link in steps:
                result = reduction.combine(result, value[link])
            for each in lost:
                result[each.pairs] = np.nan
            return result.reshape(shape)

        return reduce

    def _walk(self, src: HostIndex, dst: HostIndex) -> tuple[list[LinkIndex], list[_Lost]]:
        """One step of all routes after another, NO_LINK for those that have ended.

        The pairs without a route are returned apart; their steps have no meaning.
        """
        is_under_way = src != dst
        has_ends = self.link_from_host[src] != NO_LINK
        at = self.switch_of_host[src]
        steps: list[LinkIndex] = []
        lost: list[_Lost] = []
        if np.any(is_under_way & has_ends):
            steps.append(np.where(is_under_way, self.link_from_host[src], NO_LINK))
        # On a switch that hosts sit on, it ends there; else with the link to the host.
        is_under_way &= has_ends | (at != self.switch_of_host[dst])
        while np.any(is_under_way):
            link = np.where(is_under_way, self.next_link[at, dst], NO_LINK)
            is_looping = len(steps) >= MOST_SWITCHES
            pairs = np.flatnonzero(is_under_way & ((link == NO_LINK) | is_looping))
            if pairs.size:
                reason = "runs in a loop" if is_looping else "ends"
                lost.append(_Lost(pairs, int(at[pairs[0]]), reason))
                is_under_way = is_under_way.copy()
                is_under_way[pairs] = False
                link = np.where(is_under_way, link, NO_LINK)
            steps.append(link)
            at = np.where(is_under_way, self.switch_after_link[link], at)
            is_under_way = is_under_way & (at != NO_LINK)
            is_under_way &= has_ends | (at != self.switch_of_host[dst])
            at = np.where(at == NO_LINK, 0, at)
        return steps, lost

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a file keeps of it."""
        names = ("switch_of_host", "link_from_host", "next_link", "switch_after_link")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], num_links: int) -> TableRoutes:
        """From what a file kept."""
        next_link = arrays["next_link"]
        for name, most in (
            ("next_link", num_links),
            ("link_from_host", num_links),
            ("switch_of_host", len(next_link)),
            ("switch_after_link", len(next_link)),
        ):
            values = arrays[name]
            least = 0 if name == "switch_of_host" else NO_LINK
            if values.min(initial=0) < least or values.max(initial=0) >= most:
                raise InputError(f"{name}: names what is not there")
        if next_link.ndim != 2 or next_link.shape[1] != len(arrays["switch_of_host"]):
            raise InputError("next_link: does not fit the number of hosts")
        if len(arrays["switch_after_link"]) != num_links:
            raise InputError("switch_after_link: does not fit the number of links")
        return cls(**{name: arrays[name] for name in _names()})


def _names() -> tuple[str, ...]:
    return ("switch_of_host", "link_from_host", "next_link", "switch_after_link")
