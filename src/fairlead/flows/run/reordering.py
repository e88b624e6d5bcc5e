# SPDX-License-Identifier: Apache-2.0
"""Topologies that the program makes with `reorder=1` are placed by the measured network."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher, LaunchSpec
from fairlead.act.mpi_builds import MpiBuild
from fairlead.act.plan.reorder import DEFAULT_MESSAGE_BYTES, write_reorder_plan
from fairlead.decide.decision import Decision
from fairlead.errors import Error
from fairlead.files import run_directory
from fairlead.flows.inputs.session import Session
from fairlead.flows.run.features import FeaturePlan, plan_variables, with_variables
from fairlead.watch.reordered import count_reordered

__all__ = ["plan_reordering", "reorder_variables"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReorderedTopologies(FeaturePlan):
    """The plan by which the library places topologies."""

    session: Session

    @property
    def is_taken(self) -> bool:
        """Topologies are placed."""
        return True

    def outcome(self) -> dict[str, Any]:
        """How many communicators got another order of ranks."""
        return {"reordered_topologies": count_reordered(self.session.directory.path)}

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec | None]:
        """The start with the library, which reads the plan."""
        variables = reorder_variables(self.session)
        yield with_variables(spec, variables) if variables else None


def plan_reordering(session: Session, _decision: Decision) -> FeaturePlan:
    """Topologies are placed unless the user asked for their ranks to stay in order."""
    if not session.request.placing.reorder:
        return FeaturePlan(feature="reorder", why="not asked for", is_considered=False)
    if session.program.guess is not None:
        why = "the traffic is guessed, and in another order of ranks this run would not show it"
        return FeaturePlan(feature="reorder", why=why, is_considered=False)
    return ReorderedTopologies(
        feature="reorder", why="wherever the program allows it", session=session
    )


def reorder_variables(
    session: Session, find: Callable[[Launcher], MpiBuild] = mpi_builds.find
) -> dict[str, str]:
    """Write the plan; variables for the program, or none and one line if that is not possible.

    Args:
        session: The inputs of the run.
        find: The library for a launcher's MPI.
    """
    try:
        library = find(session.launcher).intercept
        message_bytes = session.traffic.mean_message_bytes or DEFAULT_MESSAGE_BYTES
        write_reorder_plan(
            session.directory.file(run_directory.PLAN), session.network, message_bytes
        )
        return plan_variables(session, library)
    except Error as error:
        session.narrator.report(f"topologies keep the order of their ranks: {error}")
        return {}
