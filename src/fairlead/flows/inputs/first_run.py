# SPDX-License-Identifier: Apache-2.0
"""A first run, of whose program nothing is known yet, with the levers that need no trace."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from fairlead.act.launch import LaunchSpec

__all__ = ["FirstRun", "Lever"]


class Lever(Protocol):
    """What a run can have; as `fairlead.flows.run.features.FeaturePlan`, which is one."""

    @property
    def feature(self) -> str:
        """Its name."""
        ...

    @property
    def is_taken(self) -> bool:
        """Whether the program is started with it."""
        ...

    def facts(self) -> dict[str, Any]:
        """The plan for the record."""
        ...

    def apply(self, spec: LaunchSpec) -> AbstractContextManager[LaunchSpec | None]:
        """The start with it; None where it cannot be had."""
        ...

    def outcome(self) -> dict[str, Any]:
        """What it did, after a program that ran with it."""
        ...


def _plan_nothing() -> Sequence[Lever]:
    return ()


@dataclasses.dataclass
class FirstRun:
    """The levers of a first run: which it has, and what they did.

    Attributes:
        plan: Finds out which pay by what can be measured before the program starts.
        planned: What was found; empty before the start.
        applied: Those with which the program was started.
        did: What each of these did, by its name.
    """

    plan: Callable[[], Sequence[Lever]] = _plan_nothing
    planned: tuple[Lever, ...] = ()
    applied: tuple[Lever, ...] = ()
    did: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def done(self) -> dict[str, Any]:
        """What they did together, for the record of the end."""
        return {name: fact for facts in self.did.values() for name, fact in facts.items()}

    @property
    def is_relayed(self) -> bool:
        """Whether messages went by routers, as far as that is known."""
        if not any(lever.feature == "relays" for lever in self.applied):
            return False
        carried = self.done.get("relays")
        return carried is None or carried["routers_bytes"] > 0

    @property
    def is_tuned(self) -> bool:
        """Whether collectives followed schedules, as far as that is known."""
        if not any(lever.feature == "collectives" for lever in self.applied):
            return False
        tried = self.done.get("schedules")
        return tried is None or any(one["end"] in ("used", "left") for one in tried)

    def levers(self) -> dict[str, dict[str, Any]]:
        """The plan of each for the record, and what it did, where that is known."""
        return {
            lever.feature: lever.facts()
            | ({"did": self.did[lever.feature]} if lever.feature in self.did else {})
            for lever in self.planned
        }

    @contextlib.contextmanager
    def begin(self, spec: LaunchSpec) -> Iterator[LaunchSpec]:
        """The start with the levers that pay; they run until the end of the block.

        Args:
            spec: How the program would be started. What traces it loads the library.
        """
        self.planned = tuple(self.plan())
        with contextlib.ExitStack() as running:
            for lever in self.planned:
                if not lever.is_taken:
                    continue
                changed = running.enter_context(lever.apply(spec))
                if changed is not None and changed is not spec:
                    env = {name: text for name, text in changed.env.items() if name != "LD_PRELOAD"}
                    spec = dataclasses.replace(changed, env=env)
                    self.applied = (*self.applied, lever)
            yield spec
        for lever in self.applied:
            self.did[lever.feature] = lever.outcome()
