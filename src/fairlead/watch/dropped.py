# SPDX-License-Identifier: Apache-2.0
"""What has proved slower by the runs of a program's build, and by those of the build before."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from fairlead.watch.history import History, RunTime

__all__ = ["Dropped"]

HostNames = tuple[str, ...] | None
"""A placement as the host of each rank; None for the launcher's own."""


@dataclasses.dataclass(frozen=True)
class Dropped:
    """What is not used for the next run, because runs have shown it to be slower.

    What runs of an earlier build have shown holds until this build has run with it, or until it is
    to be tried again.

    Attributes:
        kept: Runs of the build that is there.
        earlier: Runs of the latest build before whose traffic was the same; None without one.
    """

    kept: History
    earlier: History | None = None

    def find_placements(self) -> set[tuple[str, ...]]:
        """Placements that have proved slower, as the host of each rank."""
        own = self.kept.find_dropped()
        if self.earlier is None:
            return own
        untried = {
            names
            for names in self.earlier.find_dropped()
            if not self._is_tried(names, lambda _run: True)
        }
        return own | untried

    def has_tuning(self, host_of_rank: Sequence[str] | None) -> bool:
        """Whether tuned collectives are dropped on this placement."""
        return self._has(History.is_tuning_dropped, lambda run: run.is_tuned, _names(host_of_rank))

    def has_relaying(self, host_of_rank: Sequence[str] | None) -> bool:
        """Whether relays are dropped on this placement."""
        return self._has(
            History.is_relaying_dropped, lambda run: run.is_relayed, _names(host_of_rank)
        )

    def has_inside(self, host_of_rank: Sequence[str] | None) -> bool:
        """Whether other CPUs of the launcher's are dropped on this placement."""
        return self._has(History.is_inside_dropped, lambda run: run.is_inside, _names(host_of_rank))

    def find_any(self) -> dict[HostNames, History]:
        """Placements that have proved slower, or on which something has, and the runs that show it.

        Where both builds have runs on a placement those of the current one are given.
        """
        dropped = self.find_placements()
        found: dict[HostNames, History] = {}
        for history in filter(None, (self.kept, self.earlier)):
            for names in {run.host_of_rank for run in history.runs} - found.keys():
                levers = (self.has_tuning, self.has_relaying, self.has_inside)
                if names in dropped or any(has(names) for has in levers):
                    found[names] = history
        return found

    def _has(
        self,
        shows: Callable[[History, HostNames], bool],
        includes: Callable[[RunTime], bool],
        names: HostNames,
    ) -> bool:
        if shows(self.kept, names):
            return True
        if self.earlier is None or self._is_tried(names, includes):
            return False
        return shows(self.earlier, names)

    def _is_tried(self, names: HostNames, includes: Callable[[RunTime], bool]) -> bool:
        """Whether this build has run so on a placement, or is to do it again."""
        return any(run.host_of_rank == names and includes(run) for run in self.kept.runs) or any(
            mark.host_of_rank == names for mark in self.kept.retries
        )


def _names(host_of_rank: Sequence[str] | None) -> HostNames:
    return None if host_of_rank is None else tuple(host_of_rank)
