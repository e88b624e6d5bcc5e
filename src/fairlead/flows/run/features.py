# SPDX-License-Identifier: Apache-2.0
"""What every feature of a run is; `fairlead.flows.run.flow.FEATURES` lists them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairlead.act.launch import LaunchSpec
from fairlead.act.preload import preload_variables
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.files import run_directory
from fairlead.flows.inputs.session import Session
from fairlead.flows.request import Request

__all__ = ["Feature", "FeaturePlan", "plan_variables", "with_variables"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FeaturePlan:
    """What one feature does in a run; as it stands here it does nothing.

    Attributes:
        feature: Its name.
        why: Why it does what it does, for the record.
        saved_share: Part of the run's time that it is expected to save, for placements and relays
            of the time on the network; None: not known.
        gain: The same with its interval and the risk of a loss; None: not known.
        is_considered: Whether it was measured or predicted what it saves.
    """

    feature: str
    why: str
    saved_share: float | None = None
    gain: Gain | None = None
    is_considered: bool = True

    @property
    def is_taken(self) -> bool:
        """Whether the program is started with it."""
        return False

    def facts(self) -> dict[str, Any]:
        """The plan for the record."""
        return {
            "is_considered": self.is_considered,
            "is_taken": self.is_taken,
            "why": self.why,
            "saved_share": self.saved_share,
            "gain": None if self.gain is None else dataclasses.asdict(self.gain),
        }

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec | None]:
        """Write what the feature needs, and keep it running until the end of the block.

        Args:
            spec: How the program would be started without it.

        Yields:
            How it is started; None where the feature cannot be had, after one line of output.
        """
        yield spec

    def outcome(self) -> dict[str, Any]:
        """What it did, for the record of the end; called after a program that ran with it."""
        return {}


def _nothing_to_check(_request: Request) -> None:
    """Any request will do."""


@dataclasses.dataclass(frozen=True)
class Feature:
    """One thing that a run can do for its program.

    Attributes:
        name: Its name.
        plan: Finds out whether it pays for this session and decision, which may measure.
        check: Refuses a request that it cannot serve, before anything starts.
        by_library: Whether it acts by the preload library.
    """

    name: str
    plan: Callable[[Session, Decision], FeaturePlan]
    check: Callable[[Request], None] = _nothing_to_check
    by_library: bool = True


def with_variables(spec: LaunchSpec, variables: Mapping[str, str]) -> LaunchSpec:
    """The same start with further environment variables."""
    return dataclasses.replace(spec, env={**spec.env, **variables})


def plan_variables(session: Session, library: Path) -> dict[str, str]:
    """Variables by which a program loads the library and finds the plan and the record of the run.

    Raises:
        LaunchError: The loader does not accept the library's path.
    """
    return preload_variables(
        {},
        library,
        FAIRLEAD_PLAN=str(session.directory.file(run_directory.PLAN).absolute()),
        FAIRLEAD_RECORD=str(session.directory.path.absolute()),
    )
