# SPDX-License-Identifier: Apache-2.0
"""The traffic of a program: from a file, from an earlier run, or of a traced run now."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL
from typing import NamedTuple

import scipy.sparse as sp

from fairlead.act.launch import Launcher, SharedInput
from fairlead.errors import InputError, NoTraceError, TracedRunEndedError, TraceError
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory, cache_folder, state_folder
from fairlead.flows.request import Request, require_ranks
from fairlead.measure import profile_cache
from fairlead.measure.trace import TracedRun, trace
from fairlead.measure.traffic_files import load_traffic
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
        is_users_run: Whether the traced run was the run that the user asked for.
        lack: Why it left no trace; empty where it left one.
    """

    traffic: Traffic
    trace_s: float = 0.0
    seconds: float | None = None
    exclusive: tuple[str, ...] = ()
    is_users_run: bool = False
    lack: str = ""


def find_traffic(
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
    inputs = profile_cache.input_files(request.program)
    start = _TracedStart(request, launcher, cluster, directory, narrator, stdin, trace)
    started = time.monotonic()
    program = start.run_as_asked() if request.first == "auto" else start.run_beforehand()
    program = program._replace(trace_s=time.monotonic() - started)
    try:
        profile_cache.remember_traffic(
            program.traffic, request.program, request.num_ranks, launcher, inputs
        )
    except InputError as error:  # Traffic that cannot be kept is still used for this run.
        narrator.tell(f"traffic: not kept for later runs: {error}")
    return program


@dataclasses.dataclass(frozen=True)
class _TracedStart:
    """How a program is started with tracing."""

    request: Request
    launcher: Launcher
    cluster: Cluster
    directory: RunDirectory
    narrator: Narrator
    stdin: SharedInput | None
    trace: Callable[..., TracedRun]

    def run_as_asked(self) -> TracedProgram:
        """The run that was asked for; nothing is started again."""
        request = self.request
        self.narrator.tell(
            f"traffic: this run of {request.program[0]} is traced, and its traffic is kept for the "
            "next one (to place it at once, add --first twice)"
        )
        asked = {"--relay": request.relays, "--plan": request.collectives.plan}
        for option in (name for name, value in asked.items() if value is not None):
            self.narrator.tell(f"{option} has no effect in a run that is traced, but in the next")
        return self._run(None, 1, is_users=True)._replace(is_users_run=True)

    def run_beforehand(self) -> TracedProgram:
        """A run before the one that was asked for, which finds what it has written."""
        log = self.directory.file("trace.log")
        self.narrator.tell(
            f"traffic: running {self.request.program[0]} once with tracing (output: stderr and "
            f"{log})"
        )
        ours = (self.directory.path, state_folder(), cache_folder())
        before = files_in(Path.cwd(), ours)
        # Standard output is for the placed run: one result, not two.
        found = self._run(log, 2, is_users=False)
        assert found.seconds is not None
        if found.lack:
            self.narrator.tell(f"traffic: {found.lack}; the launcher's placement is used")
        self.narrator.tell(
            f"traffic: the traced run has ended, after {format_duration(found.seconds)}"
        )
        if changes := changes_since(before, files_in(Path.cwd(), ours)):
            self.narrator.tell(
                f"the traced run {changes.line()}; a program that is started again finds them"
            )
        return found

    def _run(self, log: Path | None, stdout: int, *, is_users: bool) -> TracedProgram:
        spec = self.request.launch_spec(self.cluster)
        self.directory.note("tracing", {"log": log})
        stdin = self.stdin.opened(last=is_users) if self.stdin else contextlib.nullcontext(DEVNULL)
        try:
            with stdin as source:
                run = TracedRun(
                    *self.trace(self.launcher, spec, log=log, stdin=source, stdout=stdout)
                )
        except NoTraceError as error:
            seconds = error.seconds or 0.0
            silent = _silent(self.request.num_ranks, str(error), seconds)
            return TracedProgram(silent, 0.0, seconds, error.exclusive, lack=str(error))
        except TracedRunEndedError as error:
            self._note_end(error)
            self.narrator.tell(
                f"the traced run of {self.request.program[0]}: {error}; its traffic is not kept"
            )
            self.directory.is_end_reported = True
            # The run that was asked for has not begun where this one came before it.
            raise SystemExit(error.exit_code or (0 if is_users else _by_signal(error))) from error
        except TraceError as error:
            self._note_end(error)
            raise
        if lost := run.traffic.uncounted.line():
            self.narrator.tell(f"traffic: not seen: {lost}")
        return TracedProgram(run.traffic, 0.0, run.seconds, run.exclusive)

    def _note_end(self, error: TraceError) -> None:
        end = {"exit_code": error.exit_code, "seconds": error.seconds, "failure": str(error)}
        self.directory.note("end", end if error.signal is None else end | {"signal": error.signal})


def _by_signal(error: TraceError) -> int:
    """The exit code of what a signal ended, as shells have it."""
    return 1 if error.signal is None else 128 + error.signal


def _silent(num_ranks: int, why: str, seconds: float) -> Traffic:
    """The traffic of a program without traceable messages."""
    nothing = sp.csr_array((num_ranks, num_ranks))
    origin = {"how": "no trace", "why": why, "seconds": seconds}
    return Traffic(nothing, nothing, run_time_s=seconds, origin=origin)


def record_traffic(program: TracedProgram, directory: RunDirectory) -> None:
    """Save the traffic in the run's folder, and note its times."""
    traffic = program.traffic
    with directory.losing():
        traffic.save(directory.file(run_directory.TRAFFIC))
    facts = {"run_time_s": traffic.run_time_s, "trace_s": program.trace_s}
    directory.note("traffic", facts)


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
