# SPDX-License-Identifier: Apache-2.0
"""The traffic of a program: from a file, from an earlier run, or of a traced run now."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import scipy.sparse as sp

from fairlead.act.launch import Launcher, LaunchSpec, SharedInput
from fairlead.errors import InputError, NoTraceError, TracedRunEndedError
from fairlead.files.run_directory import RunDirectory, cache_folder, state_folder
from fairlead.flows.request import Request, require_ranks
from fairlead.measure import profile_cache
from fairlead.measure.trace import TracedRun, trace
from fairlead.measure.working_folder import changes_since, files_in
from fairlead.model.cluster import Cluster
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.units import format_duration

TRACE_NOW = Path("trace:")


class TracedProgram(NamedTuple):
    """A program's traffic, and the times for tracing it.

    Attributes:
        traffic: What its ranks send.
        trace_s: Time for tracing now; 0 if that was not needed.
        seconds: Time of the traced run itself; None if there was none now.
        exclusive: Files in the working folder that the traced run created with O_EXCL and left.
    """

    traffic: Traffic
    trace_s: float = 0.0
    seconds: float | None = None
    exclusive: tuple[str, ...] = ()


def traced(
    request: Request,
    launcher: Launcher,
    cluster: Cluster,
    directory: RunDirectory,
    narrator: Narrator,
    *,
    stdin: SharedInput | None = None,
    trace: Callable[..., TracedRun] = trace,
) -> TracedProgram:
    """The traffic of the program, from the file, from before, or of a run now.

    Without `stdin` a run now reads nothing. It takes place by `trace`, as
    `fairlead.measure.trace.trace`.

    Raises:
        Error: The file cannot be read or is of other ranks, or the traced run failed.
        SystemExit: A signal asked for the end of the traced run; its code is the launcher's.
    """
    given = given_traffic(request)
    if given is not None:
        return TracedProgram(given)
    if request.traffic is None:
        kept = profile_cache.recall_traffic(request.program, request.num_ranks, launcher)
        if kept is not None:
            found = "" if kept.carried.messages.nnz else "; it sent nothing"
            narrator.tell(f"traffic: this program was traced before with as many ranks{found}")
            return TracedProgram(kept)
    log = directory.file("trace.log")
    narrator.tell(
        f"traffic: tracing one run of {request.program[0]} first; all that it prints comes on "
        f"stderr, and goes to {log}"
    )
    spec = LaunchSpec(
        request.program, request.num_ranks, cluster, launcher_args=request.launcher_args
    )
    inputs = profile_cache.input_files(request.program)
    directory.note("tracing", {"log": log})
    ours = (directory.path, state_folder(), cache_folder())
    before = files_in(Path.cwd(), ours)
    started = time.monotonic()
    with stdin.opened() if stdin else contextlib.nullcontext(subprocess.DEVNULL) as source:
        # Standard output is for the placed run: one result, not two.
        try:
            run = TracedRun(*trace(launcher, spec, log=log, stdin=source, stdout=2))
            traffic, seconds, exclusive = run
        except NoTraceError as error:
            exclusive = error.exclusive
            narrator.tell(f"traffic: {error}; it is run as the launcher places it")
            seconds = time.monotonic() - started
            traffic = _silent(request.num_ranks, str(error), seconds)
        except TracedRunEndedError as error:
            narrator.tell(
                f"the traced run of {request.program[0]}: {error}; its traffic is not kept"
            )
            directory.is_told = True
            raise SystemExit(error.exit_code) from error
    trace_s = time.monotonic() - started
    narrator.tell(f"traffic: the traced run has ended, after {format_duration(trace_s)}")
    if lost := traffic.uncounted.line():
        narrator.tell(f"traffic: not seen: {lost}")
    if changes := changes_since(before, files_in(Path.cwd(), ours)):
        narrator.tell(
            f"the traced run {changes.line()}; a program that is started again finds them"
        )
    try:
        profile_cache.remember_traffic(
            traffic, request.program, request.num_ranks, launcher, inputs
        )
    except InputError as error:  # Traffic that cannot be kept is still used for this run.
        narrator.tell(f"traffic: not kept for later runs: {error}")
    return TracedProgram(traffic, trace_s, seconds, exclusive)


def _silent(num_ranks: int, why: str, seconds: float) -> Traffic:
    """The traffic of a program without traceable messages."""
    nothing = sp.csr_array((num_ranks, num_ranks))
    origin = {"how": "no trace", "why": why, "seconds": seconds}
    return Traffic(nothing, nothing, run_time_s=seconds, origin=origin)


def given_traffic(request: Request) -> Traffic | None:
    """The traffic of the file that the user named; None where none is named.

    Raises:
        InputError: The file cannot be read or is of other ranks.
    """
    if request.traffic is None or request.traffic == TRACE_NOW:
        return None
    traffic = Traffic.load(request.traffic)
    remedy = f"trace the program with -n {request.num_ranks}"
    require_ranks(request.traffic, traffic.num_ranks, request.num_ranks, remedy)
    return traffic
