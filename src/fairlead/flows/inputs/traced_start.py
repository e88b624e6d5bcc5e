# SPDX-License-Identifier: Apache-2.0
"""Starts a program with tracing: as the run that was asked for, before it, or as its beginning."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL
from typing import IO, NamedTuple

import scipy.sparse as sp

from fairlead.act.launch import Launcher, SharedInput
from fairlead.errors import NoTraceError, TracedRunEndedError, TraceError
from fairlead.files import run_directory
from fairlead.files.run_directory import SHARES, RunDirectory, cache_folder, state_folder
from fairlead.flows.inputs.first_run import FirstRun
from fairlead.flows.inputs.prefix import Prefix
from fairlead.flows.request import Request
from fairlead.measure.known_inputs import KnownInput
from fairlead.measure.trace import TracedRun
from fairlead.measure.working_folder import changes_since, files_in
from fairlead.model.cluster import Cluster
from fairlead.model.coverage import Coverage
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.units import format_duration

__all__ = ["TracedProgram", "TracedStart", "covers_enough"]

LEAST_COVERED_S = 10.0
"""Least time of a run that failed, or was killed with its launcher: a shorter one may have ended
before its program did what it is for."""


class TracedProgram(NamedTuple):
    """A program's traffic, and the times for tracing it.

    Attributes:
        traffic: What its ranks send.
        trace_s: Time for tracing now; 0 if that was not needed.
        seconds: Time of the traced run itself; None if there was none now.
        exclusive: Files in the working folder that the traced run created with O_EXCL and left.
        is_users_run: Whether the traced run was the run that the user asked for.
        lack: Why it left no trace; empty where it left one.
        is_stopped: Whether the traced run was ended before its own end, as its user allows.
        guess: The input for whose traffic this is taken; None where it is that of this input.
        is_known: Whether later runs have a traffic, this one or one that covers more; false where
            the cache cannot be written.
    """

    traffic: Traffic
    trace_s: float = 0.0
    seconds: float | None = None
    exclusive: tuple[str, ...] = ()
    is_users_run: bool = False
    lack: str = ""
    is_stopped: bool = False
    guess: KnownInput | None = None
    is_known: bool = True

    @property
    def is_partial(self) -> bool:
        """Whether the traffic is that of a run which did not come to its end."""
        return Coverage.of_origin(self.traffic.origin, self.traffic.num_ranks) is not None

    @property
    def has_trace(self) -> bool:
        """Whether the program left a trace when it was traced."""
        return self.traffic.origin.get("how") != _NO_TRACE


_NO_TRACE = "no trace"


def covers_enough(traffic: Traffic) -> bool:
    """Whether a partial trace is of all ranks of a program at work; true of a whole one."""
    coverage = Coverage.of_origin(traffic.origin, traffic.num_ranks)
    if coverage is None:
        return True
    return not coverage.missing and coverage.least_s >= LEAST_COVERED_S


@dataclasses.dataclass(frozen=True)
class TracedStart:
    """How a program is started with tracing.

    Attributes:
        request: What the user asked for.
        launcher: Starts it.
        cluster: On these hosts.
        directory: Folder of the run.
        narrator: Prints for the user.
        stdin: Standard input of this run and of each later one; None for nothing.
        trace: As `fairlead.measure.trace.trace`.
        keep: Keeps its traffic for later runs; false where they do not use it.
        first_run: Levers of a run that is the one which was asked for.
    """

    request: Request
    launcher: Launcher
    cluster: Cluster
    directory: RunDirectory
    narrator: Narrator
    stdin: SharedInput | None
    trace: Callable[..., TracedRun]
    keep: Callable[[Traffic], bool]
    first_run: FirstRun = dataclasses.field(default_factory=FirstRun)

    def run(self) -> TracedProgram:
        """The run of the kind that was asked for."""
        if self.request.first == "auto":
            return self.run_as_asked()
        return self.run_prefix() if self.request.first == "prefix" else self.run_beforehand()

    def run_as_asked(self) -> TracedProgram:
        """The run that was asked for; nothing is started again."""
        request = self.request
        self.narrator.report(
            f"traffic: tracing this run of {request.program[0]}; the next one is placed by its "
            "traffic (to trace and place in one call, add --first twice)"
        )
        if request.collectives.plan:
            self.narrator.report("--plan has no effect in this traced run, only in the next one")
        return self._run(None, 1, is_users=True)._replace(is_users_run=True)

    def run_prefix(self) -> TracedProgram:
        """The beginning of a run; the whole run that was asked for, where that ends before."""
        request, log = self.request, self.directory.file("trace.log")
        name, limit = request.program[0], format_duration(request.trace_limit_s)
        self.narrator.report(
            f"traffic: running {name} with tracing until its traffic is known, at most {limit}; "
            f"then it is ended and started again (output: {log})"
        )
        prefix = Prefix(request.trace_limit_s, request.num_ranks)
        changes = _Changes(self.directory)
        # It is known only at the end whether this output is the result.
        with tempfile.TemporaryFile() as out:
            try:
                found = self._run(log, out.fileno(), is_users=False, prefix=prefix)
            except TraceError:
                _copy_to_stdout(out)
                raise
            if found.seconds is not None and not found.is_stopped:
                _copy_to_stdout(out)
                self.narrator.report(f"traffic: {name} has ended by itself; that run is this run")
                return found._replace(is_users_run=True)
        self._report_end(found, f"{name} was ended after", f": {prefix.line()}", changes)
        return found

    def run_beforehand(self) -> TracedProgram:
        """A run before the one that was asked for, which finds what it has written."""
        log = self.directory.file("trace.log")
        self.narrator.report(
            f"traffic: running {self.request.program[0]} once with tracing (output: stderr and "
            f"{log})"
        )
        changes = _Changes(self.directory)
        # Standard output is for the placed run: one result, not two.
        found = self._run(log, 2, is_users=False)
        self._report_end(found, "the traced run has ended, after", "", changes)
        return found

    def _report_end(self, found: TracedProgram, what: str, why: str, changes: _Changes) -> None:
        """Print what a run before the placed one has left, and for how long it ran."""
        if found.lack:
            self.narrator.report(f"traffic: {found.lack}; the launcher's placement is used")
        if found.seconds is not None:
            self.narrator.report(f"traffic: {what} {format_duration(found.seconds)}{why}")
            changes.report(self.narrator)

    def _run(
        self, log: Path | None, stdout: int, *, is_users: bool, prefix: Prefix | None = None
    ) -> TracedProgram:
        spec = self.request.launch_spec(self.cluster)
        stdin = self.stdin.open(last=is_users) if self.stdin else contextlib.nullcontext(DEVNULL)
        levers = self.first_run.begin(spec) if is_users else contextlib.nullcontext(spec)
        try:
            with levers as start, stdin as source:
                if is_users:
                    planned = {"predicted_s": None, "features": self.first_run.levers()}
                    self.directory.record("expected", planned)
                self.directory.record("tracing", {"log": log})
                run = TracedRun(
                    *self.trace(
                        *(self.launcher, start),
                        log=log,
                        stdin=source,
                        stdout=stdout,
                        runs_untraced=is_users,
                        shares=self.directory.file(SHARES),
                        early_end=prefix,
                    )
                )
        except NoTraceError as error:
            silent = _silent(self.request.num_ranks, str(error), error.seconds or 0.0)
            return TracedProgram(
                *(silent, 0.0, error.seconds, error.exclusive),
                lack=str(error),
                is_stopped=error.is_stopped,
            )
        except TracedRunEndedError as error:
            self._record_end(error)
            kept = self._keep_partial(error)
            self.narrator.report(f"the traced run of {self.request.program[0]}: {error}; {kept}")
            self.directory.is_end_reported = True
            # The run that was asked for has not begun where this one came before it.
            raise SystemExit(error.exit_code or (0 if is_users else _by_signal(error))) from error
        except TraceError as error:
            self._record_end(error)
            if error.traffic is not None:
                self.narrator.report(f"the traced run failed; {self._keep_partial(error)}")
            raise
        if lost := run.traffic.untraced.line():
            self.narrator.report(f"traffic: not recorded: {lost}")
        coverage = Coverage.of_origin(run.traffic.origin, run.traffic.num_ranks)
        if coverage is not None and not run.is_stopped:
            self.narrator.report(f"traffic: {coverage.line()}")
        return TracedProgram(
            *(run.traffic, 0.0, run.seconds, run.exclusive), is_stopped=run.is_stopped
        )

    def _keep_partial(self, error: TraceError) -> str:
        """Keep what a run that did not end well has left, and say what it is."""
        traffic = error.traffic
        if traffic is None:
            return "its traffic is not kept"
        with self.directory.tolerate_failures():
            traffic.save(self.directory.file(run_directory.TRAFFIC))
        coverage = Coverage.of_origin(traffic.origin, traffic.num_ranks)
        what = coverage.line() if coverage else "whole"
        # Or more of it is known, or the cache cannot be written.
        if covers_enough(traffic) and self.keep(traffic):
            return f"its traffic is kept for the next run, {what}"
        if not run_directory.is_kept(self.directory.path):
            return f"its traffic is not kept, {what}"
        return f"its traffic is in {self.directory.path} alone, {what}"

    def _record_end(self, error: TraceError) -> None:
        end = {
            "exit_code": error.exit_code,
            "seconds": error.seconds,
            "failure": str(error),
        }
        self.directory.record(
            "end", end if error.signal is None else end | {"signal": error.signal}
        )


class _Changes:
    """What a run changes in the working folder, but for what is Fairlead's."""

    def __init__(self, directory: RunDirectory) -> None:
        self._ours = (directory.path, state_folder(), cache_folder())
        self._before = files_in(Path.cwd(), self._ours)

    def report(self, narrator: Narrator) -> None:
        """Name what has changed since, if anything has."""
        if changes := changes_since(self._before, files_in(Path.cwd(), self._ours)):
            narrator.report(
                f"the traced run {changes.line()}; a program that is started again finds them"
            )


def _copy_to_stdout(out: IO[bytes]) -> None:
    """Print what a program has printed, past Python's buffers, as it would have itself."""
    out.seek(0)
    with contextlib.suppress(OSError):  # As `fairlead.act.launch.copied`: nobody reads any more.
        while chunk := out.read(1 << 16):
            while chunk:
                chunk = chunk[os.write(1, chunk) :]


def _by_signal(error: TraceError) -> int:
    """The exit code of what a signal ended, as shells have it."""
    return 1 if error.signal is None else 128 + error.signal


def _silent(num_ranks: int, why: str, seconds: float) -> Traffic:
    """The traffic of a program without traceable messages."""
    nothing = sp.csr_array((num_ranks, num_ranks))
    origin = {"how": _NO_TRACE, "why": why, "seconds": seconds}
    return Traffic(nothing, nothing, run_time_s=seconds, origin=origin)
