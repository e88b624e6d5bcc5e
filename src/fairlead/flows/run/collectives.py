# SPDX-License-Identifier: Apache-2.0
"""The collectives of one run: tuned for its placement, or by a plan that was written before."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher, LaunchSpec
from fairlead.act.mpi_builds import MpiBuild
from fairlead.act.plan.collectives import (
    COLLECTIVES_FILE,
    CollectivesPlan,
    read_collectives_plan,
    write_collectives_plan,
)
from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.collectives.catalogue import OPERATIONS
from fairlead.decide.decision import Decision
from fairlead.errors import Error, InputError
from fairlead.files import run_directory
from fairlead.flows.inputs.session import Session
from fairlead.flows.request import Request, require_ranks
from fairlead.flows.run.features import FeaturePlan, plan_variables, with_variables
from fairlead.flows.tune.flow import TuneRequest, Tuning, time_calls
from fairlead.measure.collective_times import TimedCall, TuningProgram
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.collective_rule import TunedCollectives
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.units import format_duration
from fairlead.watch.collective_drift import drift_counts

__all__ = [
    "RunCollectives",
    "ScheduledCollectives",
    "WorthTuning",
    "check_given_plan",
    "follow_plan",
    "given_collectives",
    "plan_collectives",
    "saved_share",
    "tune_for_run",
    "worth_tuning",
]

LEAST_SHARE = 0.05
"""Least part of a run's time in collectives for which they are tuned."""

COVERED_SHARE = 0.95
MOST_CALLS = 12
"""Tuned are the calls that take most time, until they are this part of it, or so many."""

MOST_TUNING_S = 10.0

_SENDS_TO_EACH = frozenset({"alltoall", "reduce_scatter"})
"""A trace holds of these what a rank passes to the call, which is a block for each other."""

_RULES_OF = {"reduce_scatter_block": "reduce_scatter", "allgatherv": "allgather"}
"""Operations whose calls follow the rules of another one; allgatherv does by its mean block."""


@dataclasses.dataclass(frozen=True)
class WorthTuning:
    """Calls of a program that are worth tuning.

    Attributes:
        calls: The calls, that which takes most time first; none where it is not worth it.
        share: Part of the run's time that a rank spends in collectives.
        seconds: That time.
        seconds_of_calls: That of each of the calls.
    """

    calls: tuple[TimedCall, ...]
    share: float
    seconds: float
    seconds_of_calls: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True)
class RunCollectives:
    """How the collectives of one run were decided.

    Attributes:
        plan: What is used, and the network on which it was timed: a later probe of the same hosts
            would lead to other schedules.
        tuning: What was measured now; None where the plan is kept or given.
        saved_share: Part of the run's time that they are expected to save; None: not known.
    """

    plan: CollectivesPlan
    tuning: Tuning | None = None
    saved_share: float | None = None

    @property
    def rules(self) -> TunedCollectives:
        """Which calls follow schedules."""
        return self.plan.rules


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScheduledCollectives(FeaturePlan):
    """Collectives by schedules, where rules say so."""

    session: Session
    collectives: RunCollectives

    @property
    def is_taken(self) -> bool:
        """Whether any call follows a schedule."""
        return bool(self.collectives.rules.rules)

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec | None]:
        """The start with the library, which reads the rules."""
        variables = follow_plan(self.session, self.collectives.plan)
        yield with_variables(spec, variables) if variables else None

    def outcome(self) -> dict[str, Any]:
        """How often the network had changed, and what was planned anew."""
        drift = drift_counts(self.session.directory.path)
        return {} if drift is None else {"drift": drift.model_dump()}


def check_given_plan(request: Request) -> None:
    """Check that the plan which the user named can be followed.

    Raises:
        InputError: It cannot be read, or is of another number of ranks.
    """
    if request.collectives.plan is not None:
        given_collectives(request.collectives.plan, request.num_ranks)


def plan_collectives(session: Session, decision: Decision) -> FeaturePlan:
    """The plan that the user named, or one tuned for the placement if that is worth it."""
    asked = session.request.collectives
    if asked.plan is not None:
        given = RunCollectives(given_collectives(asked.plan, session.request.num_ranks))
        return _follow_schedules(session, given, f"by the plan {asked.plan}")
    if asked.tune == "never":
        return FeaturePlan(feature="collectives", why="not asked for", is_considered=False)
    if session.log.dropped.has_tuning(decision.host_names()):
        why = "collectives stay the MPI's own: tuned ones have proved slower"
        session.narrator.report(why)
        return FeaturePlan(feature="collectives", why=why, is_considered=False)
    runs = session.log.kept.compare_tuning(
        decision.host_names(), is_relayed=decision.transfers.is_taken
    )
    if runs.is_reference_next:
        why = f"tuned ones may be slower, and take turns with the MPI's own: {runs.line()}"
        session.narrator.report(f"collectives: {why}")
        return FeaturePlan(feature="collectives", why=why)
    found = tune_for_run(session, decision.placement or session.launchers)
    if found is None:
        return FeaturePlan(feature="collectives", why="not tuned")
    return _follow_schedules(session, found, "as they were tuned for this placement")


def _follow_schedules(session: Session, found: RunCollectives, why: str) -> ScheduledCollectives:
    return ScheduledCollectives(
        feature="collectives",
        why=why,
        saved_share=found.saved_share,
        session=session,
        collectives=found,
    )


def tune_for_run(
    session: Session,
    placement: Placement,
    program: Callable[..., TuningProgram] = TuningProgram,
) -> RunCollectives | None:
    """Time the program's collectives on its placement, if they take enough of its time.

    What was found is used again by later runs, as long as a kept profile of the network would be.

    Args:
        session: The measured network, and the traffic with its table of collectives.
        placement: Placement of the program's ranks.
        program: Times calls; as `TuningProgram`.

    Returns:
        None where nothing was measured; the program runs all the same.
    """
    request, narrator = session.request, session.narrator
    found = worth_tuning(session.traffic, placement)
    if not found.calls:
        narrator.report(
            f"collectives: {found.share:.0%} of the traced run's time: not worth tuning"
        )
        return None
    folder = _kept_folder(session, placement, found)
    kept = _load_kept(folder, request)
    if kept is not None:
        narrator.report(f"collectives: {_names(kept.rules)}, from an earlier run")
        return RunCollectives(kept)
    wanted = TuneRequest(
        request.num_ranks,
        request.cluster,
        operations=tuple(dict.fromkeys(call.operation for call in found.calls)),
        budget_s=min(MOST_TUNING_S, found.seconds),
    )
    try:
        with program(
            session.launcher, session.cluster, placement, request.launcher.arguments
        ) as running:
            tuning = time_calls(found.calls, running, session.network, wanted, narrator)
    except Error as error:
        narrator.report(f"collectives stay the MPI's own: {error}")
        return None
    narrator.report(tuning_line(tuning, found.share))
    try:
        tuning.write(folder)
    except Error as error:
        narrator.report_loss(f"collectives: not cached for later runs: {error}")
    plan = CollectivesPlan(tuning.network, tuning.collectives)
    return RunCollectives(plan, tuning, saved_share(found, tuning))


def _kept_folder(session: Session, placement: Placement, found: WorthTuning) -> Path:
    """The plan that is kept for these calls, hosts and placement; its name has all of them."""
    cluster, launcher, request = session.cluster, session.launcher, session.request
    facts = (
        *(cluster.hosts, cluster.slots, cluster.sockets, placement.host_names(), found.calls),
        *(launcher.name, launcher.version, request.launcher.arguments, request.network.source),
    )
    digest = hashlib.sha256(repr(facts).encode())
    return run_directory.cache_folder() / "collectives" / digest.hexdigest()[:24]


def _load_kept(folder: Path, request: Request) -> CollectivesPlan | None:
    try:
        age_s = time.time() - (folder / COLLECTIVES_FILE).stat().st_mtime
        # One of the future is from a wrong clock, and would be used for as long as that was wrong.
        is_fresh = 0 <= age_s <= request.network.max_age_s
        return read_collectives_plan(folder) if is_fresh else None
    except (OSError, InputError):
        return None


def _names(collectives: TunedCollectives) -> str:
    algorithms = dict.fromkeys(f"{rule.operation} by {rule.method}" for rule in collectives.rules)
    return ", ".join(algorithms) or "the MPI's own"


def saved_share(found: WorthTuning, tuning: Tuning) -> float:
    """Time that is saved, as part of the run's."""
    # A call that could not be timed has no choice.
    seconds_of = {
        CallKind.of(call, tuning.placement): seconds
        for call, seconds in zip(found.calls, found.seconds_of_calls, strict=True)
    }
    saved_s = sum(
        seconds_of[choice.kind] * choice.gain.ratio
        for choice in tuning.choices
        if choice.is_taken and choice.gain is not None
    )
    return found.share * saved_s / found.seconds


def follow_plan(
    session: Session,
    plan: CollectivesPlan,
    find: Callable[[Launcher], MpiBuild] = mpi_builds.find,
) -> dict[str, str]:
    """Write the plan of collectives; variables by which the program follows it.

    Args:
        session: The inputs of the run; its user gets a line where that is not possible.
        plan: Which of them follow schedules, and on which network these are planned. Where a
            process is on none of its hosts, the library says so and follows nothing.
        find: The library for a launcher's MPI.

    Returns:
        No variables where all collectives are the MPI's own.
    """
    if not plan.rules.rules:
        return {}
    try:
        library = find(session.launcher).intercept
        folder = session.directory.file(run_directory.PLAN)
        write_collectives_plan(folder, plan.network, plan.rules)
        return plan_variables(session, library)
    except Error as error:
        session.narrator.report(f"collectives stay the MPI's own: {error}")
        return {}


def given_collectives(folder: Path, num_ranks: int) -> CollectivesPlan:
    """The plan that the user named.

    Raises:
        InputError: It cannot be read, or is of another number of ranks.
    """
    plan = read_collectives_plan(folder)
    require_ranks(folder, plan.rules.num_ranks, num_ranks, f"tune again with -n {num_ranks}")
    return plan


def worth_tuning(traffic: Traffic, placement: Placement) -> WorthTuning:
    """The calls in which a program spends most time, if it is a considerable part of all.

    Calls of one kind follow the same rules; of those the longest is timed.
    """
    spent_s: dict[CallKind, float] = {}
    longest: dict[CallKind, tuple[float, TimedCall]] = {}
    for call, seconds in _calls_with_time(traffic):
        kind = CallKind.of(call, placement)
        if len(kind.hosts) < 2:
            continue
        spent_s[kind] = spent_s.get(kind, 0.0) + seconds
        longest[kind] = max(longest.get(kind, (0.0, call)), (seconds, call), key=lambda one: one[0])
    total_s = sum(spent_s.values()) / traffic.num_ranks
    has_time = np.isfinite(traffic.run_time_s) and traffic.run_time_s > 0
    share = min(1.0, total_s / traffic.run_time_s) if has_time else 0.0
    if share < LEAST_SHARE:
        return WorthTuning((), share, total_s)
    chosen: dict[TimedCall, float] = {}
    covered_s = 0.0
    for kind in sorted(spent_s, key=lambda one: spent_s[one], reverse=True)[:MOST_CALLS]:
        if covered_s >= COVERED_SHARE * total_s * traffic.num_ranks:
            break
        covered_s += spent_s[kind]
        chosen[longest[kind][1]] = spent_s[kind] / traffic.num_ranks
    return WorthTuning(tuple(chosen), share, total_s, tuple(chosen.values()))


def _calls_with_time(traffic: Traffic) -> Iterable[tuple[TimedCall, float]]:
    """The calls of which all is known, each with its time, summed over ranks."""
    for row in _with_mean_blocks(traffic.collectives):
        operation = _RULES_OF.get(row.operation, row.operation)
        if operation not in OPERATIONS or row.communicator is None:
            continue
        parts = row.communicator_size if operation in _SENDS_TO_EACH else 1
        size = row.message_bytes // parts
        if size == 0 and row.operation != "barrier":
            continue
        ranks = tuple(map(int, traffic.communicators[row.communicator]))
        yield TimedCall(operation, size, ranks, row.root or 0), row.seconds


def _with_mean_blocks(rows: Iterable[CollectiveCall]) -> Iterable[CollectiveCall]:
    """The same rows, those of allgatherv on one communicator as one with the mean block.

    A trace has a row for each size of a rank's block.
    """
    rows_of: dict[int | None, list[CollectiveCall]] = {}
    for row in rows:
        if row.operation == "allgatherv":
            rows_of.setdefault(row.communicator, []).append(row)
        else:
            yield row
    for same in rows_of.values():
        num_calls = sum(row.calls for row in same)
        all_bytes = sum(row.message_bytes * row.calls for row in same)
        seconds = sum(row.seconds for row in same)
        yield same[0]._replace(
            message_bytes=all_bytes // num_calls, calls=num_calls, seconds=seconds
        )


def tuning_line(tuning: Tuning, share: float) -> str:
    """What was decided, in one line."""
    taken = [choice for choice in tuning.choices if choice.is_taken]
    spent = f"tuning took {format_duration(tuning.seconds)}"
    of_time = f"collectives are {share:.0%} of the traced run's time"
    if not taken:
        why = "no schedule is significantly faster"
        return f"collectives stay the MPI's own: {why}; {of_time}, {spent}"
    names = ", ".join(
        f"{choice.kind.operation} by {choice.name} ({choice.gain.ratio:.0%} less time)"
        for choice in taken
        if choice.gain is not None
    )
    return f"collectives: {names}; {of_time}, {spent}"
