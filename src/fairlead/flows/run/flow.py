# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: trace, measure, decide, then start the program by the user's launcher."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from fairlead.act import launch
from fairlead.act.launch import Finished
from fairlead.decide.decision import Decision
from fairlead.decide.placement import require_method
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory, record_line
from fairlead.flows.inputs.alongside import announce_to_others
from fairlead.flows.inputs.interruption import ended_by, keep_exit_code, report_interruption
from fairlead.flows.inputs.prepare import prepare, probe_program_for, result_kept
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.inputs.unmeasured import UnmeasuredError
from fairlead.flows.request import Request
from fairlead.flows.run.announcement import (
    Announcement,
    announcement_of,
    announcement_of_next_run,
    is_inside,
    is_relayed,
    is_tuned,
)
from fairlead.flows.run.collectives import check_given_plan, plan_collectives
from fairlead.flows.run.contained import reach_inside
from fairlead.flows.run.features import Feature, FeaturePlan
from fairlead.flows.run.first_run import plan_first_run
from fairlead.flows.run.inside import decision_of_run, plan_inside
from fairlead.flows.run.launcher_alone import start_by_launcher_alone
from fairlead.flows.run.learning import learn_from_run
from fairlead.flows.run.placing import decide, plan_placement
from fairlead.flows.run.relays import plan_relays
from fairlead.flows.run.reordering import plan_reordering
from fairlead.flows.run.watched_traffic import watch_traffic
from fairlead.measure.profile_cache import Stamps, input_files
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.watch.collective_drift import drift_counts
from fairlead.watch.reordered import count_reordered

__all__ = [
    "FEATURES",
    "Announcement",
    "Launched",
    "launch_program",
    "record_end",
    "remember_run",
    "run",
]

FEATURES = (
    Feature(
        "placement",
        plan_placement,
        lambda request: require_method(request.placing.method),
        by_library=False,
    ),
    Feature("inside", plan_inside, by_library=False),
    Feature("reorder", plan_reordering),
    Feature("collectives", plan_collectives, check_given_plan),
    Feature("relays", plan_relays),
)
"""What a run can do for its program, in the order in which it is planned."""

_BY_LIBRARY = {feature.name for feature in FEATURES if feature.by_library}


class Launched(NamedTuple):
    """A program that has run.

    Attributes:
        finished: How it ended.
        features: What it ran with; a planned feature that could not be had is not among them.
        seen: What it has sent; None where that is not known.
        inputs: The files among its arguments as they were at its start.
    """

    finished: Finished
    features: tuple[FeaturePlan, ...]
    seen: Traffic | None = None
    inputs: Stamps | None = None


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
        narrator: Reports each step that takes time.
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
        alongside = until_end.enter_context(
            announce_to_others(request.cluster.hosts, request.name, narrator)
        )
        with probe_program_for(request) as probe_program:
            try:
                session = prepare(
                    *(request, narrator, probe_program),
                    alongside=alongside,
                    plan_first=partial(plan_first_run, request, probe_program.launcher, narrator),
                )
            except UnmeasuredError as error:
                probe_program.close()
                return _go_on_unmeasured(request, error, narrator, is_dry=is_dry)
            until_end.enter_context(report_interruption(session.directory, narrator))
            until_end.enter_context(session.directory.record_failure())
            until_end.enter_context(result_kept(session.program, session.directory, narrator))
            if _ends_with_traced_run(session.program) and not is_dry:
                return _end_with_traced_run(session.program, session.directory, narrator)
            decision = decide(session)
        if session.program.is_users_run:
            return _record_first_run(session, decision, announce)
        plans = plan_features(session, decision)
        announcement = announcement_of(session, decision, plans)
        announce(announcement)
        if is_dry:
            session.directory.record("end", {"is_dry": True})
            return 0
        launched = launch_program(session, plans)
        record_end(session, launched)
        with keep_exit_code(narrator):
            remember_run(session, decision, launched, announcement.predicted_s)
        return launched.finished.returncode


def _go_on_unmeasured(
    request: Request, error: UnmeasuredError, narrator: Narrator, *, is_dry: bool
) -> int:
    """The exit code of a program that starts as by its launcher alone."""
    launcher, directory = error.launcher, error.directory
    if error.program is not None and _ends_with_traced_run(error.program) and not is_dry:
        narrator.report(f"nothing is placed: {error}")
        return _end_with_traced_run(error.program, directory, narrator)
    narrator.report(
        f"nothing is placed: {error}; the program starts as {launcher.name} alone starts it; "
        f"{record_line(directory.path)}"
    )
    directory.record("decision", {"method": "launcher", "kept_launcher_placement": True})
    if is_dry:
        return 0
    spec = request.launch_spec(request.cluster)
    return start_by_launcher_alone(launcher, spec, directory, narrator, error.stdin)


def plan_features(session: Session, decision: Decision) -> list[FeaturePlan]:
    """What each feature does; those of the library do nothing where their plan is not followed."""
    if lack := session.library_lack:
        session.narrator.report(f"the program is only placed: {lack}")
    return [
        FeaturePlan(feature=feature.name, why=lack, is_considered=False)
        if lack and feature.by_library
        else feature.plan(session, decision)
        for feature in FEATURES
    ]


def _record_first_run(
    session: Session, decision: Decision, announce: Callable[[Announcement], None]
) -> int:
    """The exit code of a first run, which has ended; the next one is placed as it was decided."""
    directory = session.directory
    with directory.tolerate_failures():
        session.launchers.save(directory.file(run_directory.PLACEMENT))
    announce(announcement_of_next_run(session, decision))
    first = session.first_run
    end = {"exit_code": 0, "seconds": session.program.seconds} | first.done
    directory.record("end", end | {"features": [lever.feature for lever in first.applied]})
    return 0


def _ends_with_traced_run(program: TracedProgram) -> bool:
    """Whether the program would fail if it were started again after its whole traced run."""
    return bool(program.exclusive) and not (program.is_users_run or program.is_stopped)


def _end_with_traced_run(
    program: TracedProgram, directory: RunDirectory, narrator: Narrator
) -> int:
    """The exit code of a run that ends with the traced one, whose files would be in the way."""
    exclusive = program.exclusive
    named = ", ".join(exclusive[:3]) + (" ..." if len(exclusive) > 3 else "")
    narrator.report(
        f"not starting the program again: it created {named} exclusively (O_EXCL), which fails a "
        "second time; the traced run is the result, and the next run is placed; "
        f"{record_line(directory.path)}"
    )
    directory.record("end", {"exit_code": 0, "exclusive": exclusive})
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
        watched = running.enter_context(watch_traffic(session, spec))
        spec, has_library = reach_inside(session, watched.spec)
        applied = [plan for plan in applied if has_library or plan.feature not in _BY_LIBRARY]
        command = session.launcher.prepare_command(spec, session.directory.path)
        session.directory.record("start", {"launcher_command": command})
        inputs = input_files(session.request.program)
        stdin = running.enter_context(session.stdin.open(last=True))
        finished = launch.run(command, stdin=stdin, is_users=True)
        # With another order of ranks in topologies the traffic is another one.
        is_reordered = count_reordered(session.directory.path) > 0
        seen = None if is_reordered else watched.read(finished)
        return Launched(finished, tuple(applied), seen, inputs)


def record_end(session: Session, launched: Launched) -> None:
    """Note how the program ended, and what each feature did."""
    finished = launched.finished
    end: dict[str, Any] = {"exit_code": finished.returncode, "seconds": finished.seconds}
    if finished.signal is not None:
        end["signal"] = finished.signal
    for plan in launched.features:
        end |= plan.outcome()
    end["features"] = [plan.feature for plan in launched.features if plan.is_taken]
    # First, as those who read our lines may have gone with the signal.
    session.directory.record("end", end)
    if finished.signal is not None:
        session.narrator.report(ended_by(finished, "the program"))


def remember_run(
    session: Session, decision: Decision, launched: Launched, predicted_s: float | None
) -> None:
    """Keep for later runs what the program has sent, and the time of a run that has ended well."""
    finished, features = launched.finished, launched.features
    has_ended_well = finished.returncode == 0 and finished.signal is None
    learned = learn_from_run(session, launched.seen, launched.inputs, has_ended_well=has_ended_well)
    if not has_ended_well:
        return
    session.log.follow_traffic()
    session.log.add(
        session.request.placing.method,
        decision_of_run(decision, features),
        *(finished.seconds, predicted_s),
        is_tuned=is_tuned(features),
        is_relayed=is_relayed(features),
        is_inside=is_inside(features),
        drift=drift_counts(session.directory.path),
        guessed_from=learned.guessed_from,
        is_shared=session.alongside.has_met(),
        difference=learned.difference,
    )
