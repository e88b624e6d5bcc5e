# SPDX-License-Identifier: Apache-2.0
"""The traffic of a program: from a file, from an earlier run, or of a traced run now."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fairlead.act.launch import Launcher, SharedInput
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.files.run_directory import SHARES, RunDirectory
from fairlead.flows.inputs.first_run import FirstRun
from fairlead.flows.inputs.guessing import compare_with_earlier, guess_traffic
from fairlead.flows.inputs.traced_start import TracedProgram, TracedStart, covers_enough
from fairlead.flows.request import Request, require_ranks
from fairlead.measure import profile_cache
from fairlead.measure.known_inputs import remember_input
from fairlead.measure.left_shares import LeftShares
from fairlead.measure.trace import TracedRun, trace
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.cluster import Cluster
from fairlead.model.coverage import Coverage
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator

TRACE_NOW = Path("trace:")


def find_traffic(
    request: Request,
    launcher: Launcher,
    cluster: Cluster,
    directory: RunDirectory,
    narrator: Narrator,
    *,
    stdin: SharedInput | None = None,
    trace: Callable[..., TracedRun] = trace,
    first_run: FirstRun | None = None,
) -> TracedProgram:
    """The traffic of the program, from the file, from before, or of a run now.

    Without `stdin` a run now reads nothing. It takes place by `trace`, as
    `fairlead.measure.trace.trace`; where it is the run that was asked for, with the levers of
    `first_run`.

    Raises:
        Error: The file cannot be read or is of other ranks, or the traced run failed.
        SystemExit: A signal asked for the end of the traced run; its code is the launcher's.
    """
    given = given_traffic(request)
    if given is not None:
        return TracedProgram(given)
    left = LeftShares(request.program, request.num_ranks, launcher)
    if request.traffic is None:
        kept = _kept_traffic(request, launcher, left, narrator)
        if kept is not None:
            return TracedProgram(kept)
        guessed = guess_traffic(request, launcher, narrator) if request.may_guess else None
        if guessed is not None:
            narrator.report(guessed.line)
            directory.record("guess", guessed.facts())
            return TracedProgram(guessed.traffic, guess=guessed.source)
    inputs = profile_cache.input_files(request.program)
    keep = partial(keep_traffic, request, launcher, narrator, inputs)
    start = TracedStart(
        *(request, launcher, cluster, directory, narrator, stdin, trace, keep),
        first_run or FirstRun(),
    )
    started = time.monotonic()
    left.write(directory.file(SHARES), inputs)
    try:
        program = start.run()
    finally:
        left.forget(directory.file(SHARES))
    # A program of which nothing was seen is not traced again, but one that was ended before is.
    if not (program.is_stopped and program.lack):
        is_known = keep(program.traffic) or _is_known(request, launcher)
        program = program._replace(is_known=is_known)
    return program._replace(trace_s=time.monotonic() - started)


def _kept_traffic(
    request: Request, launcher: Launcher, left: LeftShares, narrator: Narrator
) -> Traffic | None:
    """The traffic of an earlier run, or of the part of one that was killed."""
    kept = profile_cache.recall_traffic(request.program, request.num_ranks, launcher)
    if kept is None:
        kept = left.recall()
        if kept is None or not covers_enough(kept):
            return None
    coverage = Coverage.of_origin(kept.origin, kept.num_ranks)
    found = "" if kept.carried.messages.nnz else "; it sent nothing"
    part = f"; {coverage.line()}" if coverage else ""
    narrator.report(f"traffic: using the trace of an earlier run with as many ranks{found}{part}")
    return kept


def _is_known(request: Request, launcher: Launcher) -> bool:
    """Whether later runs use a trace from before, as where this one is a shorter part."""
    kept = profile_cache.recall_traffic(request.program, request.num_ranks, launcher)
    return kept is not None


def keep_traffic(
    request: Request,
    launcher: Launcher,
    narrator: Narrator,
    inputs: profile_cache.Stamps,
    traffic: Traffic,
) -> bool:
    """Keep the traffic for later runs; where that is not possible it is still used for this one.

    A partial one replaces neither a whole one nor one that covers more. Nor does it show what a
    guess from another input is worth.

    Returns:
        Whether later runs use it.
    """
    program, num_ranks = request.program, request.num_ranks
    coverage = Coverage.of_origin(traffic.origin, traffic.num_ranks)
    if coverage is not None:
        kept = profile_cache.recall_traffic(program, num_ranks, launcher)
        if kept is not None and not _covers_as_much(coverage, kept):
            return False
    try:
        guess = None if coverage else compare_with_earlier(traffic, request, launcher)
        profile_cache.remember_traffic(traffic, program, num_ranks, launcher, inputs)
        remember_input(program, num_ranks, launcher, guess)
    except InputError as error:
        narrator.report_loss(f"traffic: not cached for later runs: {error}")
        return False
    return True


def _covers_as_much(partial: Coverage, kept: Traffic) -> bool:
    """Whether a partial trace is of as long a part of the run as the one that is kept."""
    before = Coverage.of_origin(kept.origin, kept.num_ranks)
    return before is not None and (
        (len(partial.missing), -partial.least_s) <= (len(before.missing), -before.least_s)
    )


def record_traffic(program: TracedProgram, directory: RunDirectory) -> None:
    """Save the traffic in the run's folder, and note its times."""
    traffic = program.traffic
    with directory.tolerate_failures():
        traffic.save(directory.file(run_directory.TRAFFIC))
    facts = {"run_time_s": traffic.run_time_s, "trace_s": program.trace_s}
    directory.record("traffic", facts)


def given_traffic(request: Request) -> Traffic | None:
    """The traffic of the file that the user named; None where none is named.

    Raises:
        InputError: The file cannot be read or is of other ranks.
    """
    if request.traffic is None or request.traffic == TRACE_NOW:
        return None
    traffic = load_traffic(request.traffic)
    remedy = f"trace the program with -n {request.num_ranks}"
    require_ranks(request.traffic, traffic.num_ranks, request.num_ranks, remedy)
    return traffic
