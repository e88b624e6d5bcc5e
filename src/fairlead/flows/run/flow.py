# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: trace, measure, decide, then start the program by the user's launcher."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fairlead.act import launch
from fairlead.act.launch import Finished
from fairlead.decide.decision import Decision
from fairlead.decide.placement import require_method
from fairlead.files import run_directory
from fairlead.flows.inputs.interruption import ended_by, report_interruption
from fairlead.flows.inputs.session import Session, prepare, probe_program_for, result_kept
from fairlead.flows.request import Request
from fairlead.flows.run.announcement import (
    Announcement,
    announcement_of,
    announcement_of_next_run,
    is_tuned,
)
from fairlead.flows.run.collectives import check_given_plan, plan_collectives
from fairlead.flows.run.features import Feature, FeaturePlan
from fairlead.flows.run.placing import decide, plan_placement
from fairlead.flows.run.relays import plan_relays
from fairlead.flows.run.reordering import plan_reordering
from fairlead.narrator import Narrator
from fairlead.watch.collective_drift import drift_counts

__all__ = ["FEATURES", "Announcement", "Launched", "launch_program", "record_end", "run"]

FEATURES = (
    Feature(plan_placement, lambda request: require_method(request.placing.method)),
    Feature(plan_reordering),
    Feature(plan_collectives, check_given_plan),
    Feature(plan_relays),
)
"""What a run can do for its program, in the order in which it is planned."""


class Launched(NamedTuple):
    """A program that has run.

    Attributes:
        finished: How it ended.
        features: What it ran with; a planned feature that could not be had is not among them.
    """

    finished: Finished
    features: tuple[FeaturePlan, ...]


def run(
    request: Request,
    narrator: Narrator,
    announce: Callable[[Announcement], None],
    *,
    is_dry: bool = False,
) -> int:
    """Run the program, with those features that are worth using.

    Args:
        request: What the user asked for.
        narrator: Tells the user of each step that takes time.
        announce: Receives the decision before the program starts.
        is_dry: Trace, measure and decide, but start nothing.

    Returns:
        The exit code of the launcher; 0 where nothing was started.

    Raises:
        Error: The network, the traffic or the placement could not be determined; nothing was
            started.
        NextRunUndecided: The traced run was the one that was asked for and has ended well, but
            nothing could be decided for the next one.
    """
    for feature in FEATURES:
        feature.check(request)
    with contextlib.ExitStack() as until_end:
        with probe_program_for(request) as probe_program:
            session = prepare(request, narrator, probe_program)
            until_end.enter_context(report_interruption(session.directory, narrator))
            until_end.enter_context(session.directory.noting_failure())
            until_end.enter_context(result_kept(session.program, session.directory, narrator))
            if session.program.exclusive and not session.program.is_users_run and not is_dry:
                return _end_with_traced_run(session)
            decision = decide(session)
        if session.program.is_users_run:
            return _record_first_run(session, decision, announce)
        plans = [feature.plan(session, decision) for feature in FEATURES]
        announcement = announcement_of(session, decision, plans)
        announce(announcement)
        if is_dry:
            session.directory.note("end", {"is_dry": True})
            return 0
        launched = launch_program(session, plans)
        record_end(session, launched)
        finished = launched.finished
        if finished.returncode == 0 and finished.signal is None:
            session.log.add(
                *(request.placing.method, decision, finished.seconds, announcement.predicted_s),
                is_tuned=is_tuned(launched.features),
                drift=drift_counts(session.directory.path),
            )
        return finished.returncode


def _record_first_run(
    session: Session, decision: Decision, announce: Callable[[Announcement], None]
) -> int:
    """The exit code of a first run, which has ended; the next one is placed as it was decided."""
    directory = session.directory
    with directory.losing():
        session.launchers.save(directory.file(run_directory.PLACEMENT))
    announce(announcement_of_next_run(session, decision))
    directory.note("end", {"exit_code": 0, "seconds": session.program.seconds})
    return 0


def _end_with_traced_run(session: Session) -> int:
    """The exit code of a run that ends with the traced one, whose files would be in the way."""
    exclusive = session.program.exclusive
    named = ", ".join(exclusive[:3]) + (" ..." if len(exclusive) > 3 else "")
    session.narrator.tell(
        f"the program is not started again: it created {named} exclusively (O_EXCL) and would find "
        "it; the traced run is this run, and the next one is placed; the record "
        f"of this run: {session.directory.path}"
    )
    session.directory.note("end", {"exit_code": 0, "exclusive": exclusive})
    return 0


def launch_program(session: Session, plans: Sequence[FeaturePlan]) -> Launched:
    """Start the program with these plans and wait for it; output and signals are passed on."""
    spec = session.request.launch_spec(session.cluster)
    applied = []
    with contextlib.ExitStack() as running:
        for plan in plans:
            changed = running.enter_context(plan.apply(spec))
            if changed is not None:
                spec = changed
                applied.append(plan)
        command = session.launcher.prepare_command(spec, session.directory.path)
        session.directory.note("start", {"launcher_command": command})
        stdin = running.enter_context(session.stdin.opened(last=True))
        return Launched(launch.run(command, stdin=stdin, is_users=True), tuple(applied))


def record_end(session: Session, launched: Launched) -> None:
    """Note how the program ended, and what each feature did."""
    finished = launched.finished
    end: dict[str, Any] = {"exit_code": finished.returncode, "seconds": finished.seconds}
    if finished.signal is not None:
        end["signal"] = finished.signal
        session.narrator.tell(ended_by(finished, "the program"))
    for plan in launched.features:
        end |= plan.outcome()
    end["features"] = [plan.feature for plan in launched.features if plan.is_taken]
    session.directory.note("end", end)
