# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: trace, measure, decide, then start the program by the user's launcher."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from fairlead.act import launch
from fairlead.act.launch import Finished, LaunchSpec
from fairlead.decide.placement import require_method
from fairlead.files import run_directory
from fairlead.flows.inputs.interruption import ended_by, keeping_result, telling_interruption
from fairlead.flows.inputs.session import Session, prepare, probe_program_for
from fairlead.flows.request import Request
from fairlead.flows.run.announcement import Announcement, announcement_of, announcement_of_next_run
from fairlead.flows.run.collectives import check_given_plan, plan_collectives
from fairlead.flows.run.features import Feature, FeaturePlan
from fairlead.flows.run.placing import decide, plan_placement
from fairlead.flows.run.relays import plan_relays
from fairlead.flows.run.reordering import plan_reordering
from fairlead.flows.run.run_log import RunLog
from fairlead.narrator import Narrator
from fairlead.watch.collective_drift import drift_counts

__all__ = ["FEATURES", "Announcement", "launch_program", "record_end", "run"]

FEATURES = (
    Feature(plan_placement, lambda request: require_method(request.placing.method)),
    Feature(plan_reordering),
    Feature(plan_collectives, check_given_plan),
    Feature(plan_relays),
)
"""What a run can do for its program, in the order in which it is planned."""


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
    """
    for feature in FEATURES:
        feature.check(request)
    with contextlib.ExitStack() as until_end:
        with probe_program_for(request) as probe_program:
            session = prepare(request, narrator, probe_program)
            until_end.enter_context(telling_interruption(session.directory, narrator))
            until_end.enter_context(session.directory.noting_failure())
            log = RunLog(session)
            log.add_traced_run()
            if session.is_done:
                return _decide_for_next_run(session, log, announce)
            if session.exclusive and not is_dry:
                return _end_with_traced_run(session)
            decision = decide(session, log.kept)
        plans = [feature.plan(session, decision, log.kept) for feature in FEATURES]
        announcement = announcement_of(session, decision, plans, log.kept)
        announce(announcement)
        if is_dry:
            session.directory.note("end", {"is_dry": True})
            return 0
        finished = launch_program(session, plans)
        record_end(session, plans, finished)
        if finished.returncode == 0 and finished.signal is None:
            log.add(
                *(request.placing.method, decision, finished.seconds, announcement.predicted_s),
                is_tuned=announcement.is_tuned,
                drift=drift_counts(session.directory.path),
            )
        return finished.returncode


def _decide_for_next_run(
    session: Session, log: RunLog, announce: Callable[[Announcement], None]
) -> int:
    """The exit code of a first run, which has ended; what it taught places the next one."""
    directory = session.directory
    with keeping_result(directory, session.narrator, applies=True), directory.losing():
        session.launchers.save(directory.file(run_directory.PLACEMENT))
        decision = decide(session, log.kept)
        announce(announcement_of_next_run(session, decision, log.kept))
        directory.note("end", {"exit_code": 0, "seconds": session.traced_s})
    return 0


def _end_with_traced_run(session: Session) -> int:
    """The exit code of a run that ends with the traced one, whose files would be in the way."""
    exclusive = session.exclusive
    named = ", ".join(exclusive[:3]) + (" ..." if len(exclusive) > 3 else "")
    session.narrator.tell(
        f"the program is not started again: it created {named} exclusively (O_EXCL) and would find "
        "it; the traced run is this run, and the next one is placed by what it taught; the record "
        f"of this run: {session.directory.path}"
    )
    session.directory.note("end", {"exit_code": 0, "exclusive": exclusive})
    return 0


def launch_program(session: Session, plans: Sequence[FeaturePlan]) -> Finished:
    """Start the program with these plans and wait for it; output and signals are passed on."""
    request = session.request
    spec = LaunchSpec(
        request.program,
        request.num_ranks,
        session.cluster,
        launcher_args=request.launcher.arguments,
    )
    with contextlib.ExitStack() as running:
        for plan in plans:
            spec = running.enter_context(plan.apply(spec))
        command = session.launcher.prepare_command(spec, session.directory.path)
        session.directory.note("start", {"launcher_command": command})
        stdin = running.enter_context(session.stdin.opened(last=True))
        return launch.run(command, stdin=stdin, is_users=True)


def record_end(session: Session, plans: Sequence[FeaturePlan], finished: Finished) -> None:
    """Note how the program ended, and what each feature did."""
    end: dict[str, Any] = {"exit_code": finished.returncode, "seconds": finished.seconds}
    if finished.signal is not None:
        end["signal"] = finished.signal
        session.narrator.tell(ended_by(finished, "the program"))
    for plan in plans:
        end |= plan.outcome()
    session.directory.note("end", end)
