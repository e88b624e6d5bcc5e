# SPDX-License-Identifier: Apache-2.0
"""`fairlead compare`: the same program on the placement of each method, runs interleaved."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairlead.act import launch
from fairlead.act.launch import Finished
from fairlead.decide.placement import require_method
from fairlead.errors import InputError, LaunchError
from fairlead.files import run_directory
from fairlead.files.archive import write_text
from fairlead.flows.compare.comparison import Comparison, MethodRuns, PredictedCost
from fairlead.flows.inputs.alongside import announce_to_others
from fairlead.flows.inputs.binding import keep_binding
from fairlead.flows.inputs.prepare import prepare, probe_program_for
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.session import Session
from fairlead.flows.request import Request
from fairlead.measure.observed_launcher import ObservedBinding
from fairlead.model.cost import Cost, evaluate
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator, Progress
from fairlead.watch.concurrent_runs import ConcurrentRuns

BASELINE = "launcher"

LEAST_ROUNDS = 2
"""Least rounds of an interrupted comparison that is kept: one run says nothing about noise."""


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One method with the placement it found.

    Attributes:
        method: Name of the method.
        placement: Its placement; for the launcher's own method its assumed default placement.
        cost: Predicted cost of the placement.
        mapping_s: Time for finding it.
        command: Command line that runs the program on it.
    """

    method: str
    placement: Placement
    cost: Cost
    mapping_s: float
    command: list[str]


@dataclasses.dataclass(frozen=True)
class Series:
    """The runs of all candidates so far.

    Attributes:
        candidates: The methods that run in turns.
        repeats: Requested runs per method.
        when: Start of the first run.
        times_s: Measured seconds per method.
        are_shared: Whether another run of this user had some of the hosts, run by run.
    """

    candidates: Sequence[Candidate]
    repeats: int
    when: datetime.datetime
    times_s: dict[str, list[float]] = dataclasses.field(init=False)
    are_shared: list[bool] = dataclasses.field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "times_s", {one.method: [] for one in self.candidates})

    @property
    def num_rounds(self) -> int:
        """Rounds in which every method has run."""
        return min(map(len, self.times_s.values()))


def run_to_its_end(command: Sequence[str], **options: Any) -> Finished:
    """Run the user's program, as `fairlead.act.launch.run`.

    Raises:
        KeyboardInterrupt: SIGINT asked for its end.
        SystemExit: Another signal did.
    """
    finished = launch.run(command, is_users=True, **options)
    launch.raise_for(finished.signal)
    return finished


def compare(
    request: Request,
    methods: Sequence[str],
    repeats: int,
    narrator: Narrator,
    announce: Callable[[Comparison, Path], None],
    *,
    time_pattern: str | None = None,
    prepared_by: Callable[[Request, Narrator], Session] | None = None,
    start: Callable[..., Finished] = run_to_its_end,
    bind: Callable[[Session, Placement], ObservedBinding] = keep_binding,
) -> None:
    """Run the program `repeats` times by each method, in turns.

    Args:
        request: What the user asked for.
        methods: Names of mapping methods; the launcher's own is always among them.
        repeats: Runs per method.
        narrator: Reports each step that takes time.
        announce: Receives the comparison and the run folder it was saved to; after an
            interruption too, with the rounds that were complete, if these are two or more.
        time_pattern: Regular expression whose first group is a number of seconds in the program's
            output; None takes the time of the whole launcher command.
        prepared_by: Finds hosts, network and traffic; None measures and traces.
        start: Starts a command, as `fairlead.act.launch.run`.
        bind: Finds the CPUs of placed ranks, as `keep_binding`.

    Raises:
        Error: A step failed, or a run of the program did.
    """
    if repeats < 1:
        raise InputError(f"--repeats must be >= 1, got {repeats}")
    for method in methods:
        require_method(method)
    pattern = _compile(time_pattern)
    with announce_to_others(request.cluster.hosts, request.name, narrator) as alongside:
        session = (prepared_by or partial(_measure_now, alongside=alongside))(request, narrator)
        session = dataclasses.replace(session, alongside=alongside)
        _compare(
            *(session, methods, repeats, announce),
            pattern=pattern, narrator=narrator, start=start, bind=bind,
        )  # fmt: skip


def _compare(
    session: Session,
    methods: Sequence[str],
    repeats: int,
    announce: Callable[[Comparison, Path], None],
    *,
    pattern: re.Pattern[str] | None,
    narrator: Narrator,
    start: Callable[..., Finished],
    bind: Callable[[Session, Placement], ObservedBinding],
) -> None:
    """The runs of a session, and what they show; an interruption ends them earlier."""
    time_pattern = None if pattern is None else pattern.pattern

    def conclude(series: Series) -> None:
        comparison = _assemble(session, series, time_pattern)
        comparison.save(session.directory.file(run_directory.COMPARISON))
        if num_shared := sum(series.are_shared):
            narrator.report(
                f"another run of yours had some of the hosts during {num_shared} of "
                f"{len(series.are_shared)} runs: their times are shown here, and do not count "
                "against a placement"
            )
        announce(comparison, session.directory.path)

    with session.directory.record_failure():
        candidates = [candidate(session, method, bind) for method in _with_baseline(methods)]
        series = Series(candidates, repeats, datetime.datetime.now(datetime.timezone.utc))
        try:
            with narrator.progress("runs") as on_progress:
                interleave(
                    series, pattern, session, session.log, on_progress=on_progress, start=start
                )
        except (KeyboardInterrupt, SystemExit):
            if series.num_rounds >= LEAST_ROUNDS:
                narrator.report(f"interrupted after {series.num_rounds} of {repeats} rounds")
                conclude(series)
            raise
        conclude(series)


def _measure_now(request: Request, narrator: Narrator, alongside: ConcurrentRuns) -> Session:
    with probe_program_for(request) as probe_program:
        return prepare(request, narrator, probe_program, alongside=alongside)


def candidate(
    session: Session, method: str, bind: Callable[[Session, Placement], ObservedBinding]
) -> Candidate:
    """Place the ranks by one method and write the launcher's files for it."""
    started = time.monotonic()
    placement = session.place(method)
    mapping_s = time.monotonic() - started
    folder = session.directory.file(method)
    folder.mkdir()
    placement.save(folder / run_directory.PLACEMENT)
    spec = session.request.launch_spec(session.cluster, None if method == BASELINE else placement)
    if method != BASELINE:
        binding = bind(session, placement)
        spec = dataclasses.replace(spec, cpus=binding.cpus)
        if binding.lost is not None:
            session.narrator.report(f"{method}: binding is not kept: {binding.lost}")
    cost = evaluate(placement, session.traffic, session.network)
    return Candidate(
        method, placement, cost, mapping_s, session.launcher.prepare_command(spec, folder)
    )


def interleave(
    series: Series,
    pattern: re.Pattern[str] | None,
    session: Session,
    history: RunLog,
    *,
    on_progress: Progress,
    start: Callable[..., Finished],
) -> None:
    """Fill in the times; each repeat runs every method once (CloudMap section V-C).

    What has proved slower here `fairlead run` does not use: the history has all runs, by the time
    of the whole command.
    """
    candidates, times_s = series.candidates, series.times_s
    for repeat in range(series.repeats):
        # The order rotates, so that no method always runs after the same other one.
        shift = repeat % len(candidates)
        for one in (*candidates[shift:], *candidates[:shift]):
            session.alongside.forget_ended()
            finished = _run_once(one, session, start)
            is_shared = session.alongside.has_met()
            placement = None if one.method == BASELINE else one.placement
            history.keep(one.method, placement, finished.seconds, is_shared=is_shared)
            series.are_shared.append(is_shared)
            times_s[one.method].append(
                finished.seconds if pattern is None else _found_s(pattern, finished.stdout)
            )
            session.directory.record("runs", {"method": one.method, "s": times_s[one.method][-1]})
            on_progress(sum(map(len, times_s.values())), series.repeats * len(candidates))


def _run_once(one: Candidate, session: Session, start: Callable[..., Finished]) -> Finished:
    with session.stdin.open() as stdin:
        finished = start(one.command, capture=True, stdin=stdin)
    if finished.returncode != 0:
        log = session.directory.file("failed-run.log")
        problem = f"a run placed by {one.method!r} ended with exit code {finished.returncode}"
        try:
            write_text(log, finished.stdout + finished.stderr)
        except InputError as error:
            raise LaunchError(f"{problem}; its output is lost: {error}") from error
        raise LaunchError(f"{problem}; its output is in {log}")
    return finished


def _found_s(pattern: re.Pattern[str], output: str) -> float:
    found = pattern.search(output)
    if found is None:
        raise InputError(f"--time-pattern {pattern.pattern!r} is not in the program's output")
    text = found.group(1)
    try:
        seconds = float(text or "")
    except ValueError:
        raise InputError(
            f"--time-pattern {pattern.pattern!r} found {text or ''!r}, which is no number"
        ) from None
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(
            f"--time-pattern {pattern.pattern!r} found {text!r} in {found.group(0)!r}; "
            "a time must be finite and > 0 s"
        )
    return seconds


def _compile(time_pattern: str | None) -> re.Pattern[str] | None:
    if time_pattern is None:
        return None
    try:
        pattern = re.compile(time_pattern)
    except re.error as error:
        raise InputError(f"--time-pattern {time_pattern!r}: {error}") from error
    if pattern.groups < 1:
        raise InputError(f"--time-pattern {time_pattern!r} needs a group (...) around the seconds")
    return pattern


def _with_baseline(methods: Sequence[str]) -> list[str]:
    unique = list(dict.fromkeys(methods))
    return [BASELINE, *(method for method in unique if method != BASELINE)]


def _assemble(session: Session, series: Series, time_pattern: str | None) -> Comparison:
    rounds = series.num_rounds
    return Comparison(
        baseline=BASELINE,
        methods={
            one.method: _runs(one, series.times_s[one.method][:rounds]) for one in series.candidates
        },
        hosts=session.cluster.hosts,
        program=session.request.program,
        num_ranks=session.request.num_ranks,
        repeats=series.repeats,
        mpi=f"{session.launcher.family} {'.'.join(map(str, session.launcher.version))}",
        time_pattern=time_pattern,
        when=series.when,
        probe_s=session.probe_s,
        trace_s=session.program.trace_s,
    )


def _runs(one: Candidate, times_s: Sequence[float]) -> MethodRuns:
    return MethodRuns(
        hosts=tuple(one.placement.hosts),
        host_of_rank=tuple(one.placement.host_of_rank.tolist()),
        times_s=tuple(times_s),
        predicted=PredictedCost(
            inter_bytes=one.cost.inter_bytes,
            intra_bytes=one.cost.intra_bytes,
            comm_time_s=one.cost.comm_time_s,
            serial_time_s=one.cost.serial_time_s,
            bottleneck_s=one.cost.bottleneck_s,
            bottleneck_and_mean_s=one.cost.bottleneck_and_mean_s,
            slowest_rank_s=one.cost.slowest_rank_s,
        ),
        mapping_s=one.mapping_s,
    )
