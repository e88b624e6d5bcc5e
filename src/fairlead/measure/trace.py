# SPDX-License-Identifier: Apache-2.0
"""Runs a program once to record which of its ranks communicate."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from fairlead.act import mpi_builds
from fairlead.act.containers import NoEntryError, container_of, find_entry
from fairlead.act.launch import Finished, Launcher, LaunchSpec, copy_output, run
from fairlead.act.mpi_builds import MpiBuild
from fairlead.errors import NoTraceError, TracedRunEndedError, TraceError
from fairlead.files.scratch import scratch_folder
from fairlead.measure.left_trace import LeftTrace, folder_of_shares
from fairlead.measure.loaded_mpi import other_mpi_of, report_other_mpi
from fairlead.measure.working_folder import exclusive_files, find_library_of_files
from fairlead.model.traffic import Traffic

__all__ = ["EarlyEnd", "TracedRun", "origin_of", "require_program", "trace"]

# The beginning of each line of the preload library.
_BEGIN = b"fairlead: "
# The beginning of a line on why a program that ended as it should has left no trace.
_NO_TRACE = "no trace was written: "


class EarlyEnd(Protocol):
    """When a traced run is ended before its own end."""

    interval_s: float
    """From one share of a rank to the next."""

    def is_over(self, shares: Path) -> bool:
        """Whether enough is known by the shares in this folder; asked every so often."""


class TracedRun(NamedTuple):
    """One run under the preload library.

    Attributes:
        traffic: What its ranks sent.
        seconds: From the start of the launcher to its end.
        exclusive: Files in the working folder that it created with O_EXCL and left there.
        is_stopped: Whether it was ended before its own end, since its traffic was known.
    """

    traffic: Traffic
    seconds: float
    exclusive: tuple[str, ...] = ()
    is_stopped: bool = False


def trace(
    launcher: Launcher,
    spec: LaunchSpec,
    *,
    log: Path | str | None = None,
    timeout_s: float | None = None,
    stdin: int = 0,
    stdout: int = 1,
    runs_untraced: bool = False,
    shares: Path | None = None,
    early_end: EarlyEnd | None = None,
    find: Callable[[Launcher], MpiBuild] = mpi_builds.find,
) -> TracedRun:
    """Run the program once under the preload library and return what its ranks sent.

    The library only counts; the program's results do not change. World rank 0 writes the counts
    into a folder below the current one, which has to be visible on the host of that rank. Before,
    and where that is not possible, each rank writes its share into a folder, and what is there when
    the run has ended in another way is used: the traffic is partial then.

    Args:
        launcher: Launcher of the MPI that the program is built with.
        spec: The program; its variables stay, LD_PRELOAD is added to.
        log: File that also gets the program's output while it runs.
        timeout_s: The program is stopped after this time; None waits for it.
        stdin: File descriptor that the program reads as its standard input.
        stdout: File descriptor that gets what it prints, as it comes; its error output goes to this
            process's own.
        runs_untraced: Run it all the same where the library cannot get into its container.
        shares: Folder for the shares, which stays when this process is killed; it is made if it is
            missing, and removed at the end. None for one that does not stay, which a program in a
            container has in any case.
        early_end: Ends the run before its own end; None to leave it alone.
        find: The library for a launcher's MPI; as `fairlead.act.mpi_builds.find`.

    Returns:
        The traffic, whose `origin` holds program, arguments, launcher, MPI and time; and the time
        of the run.

    Raises:
        TraceError: There is no such program, or it failed (the error has its exit code, and what
            is there of the traffic); NoTraceError where it succeeded, but left no trace that can be
            used.
        TracedRunEndedError: A signal asked for the end of it.
        LaunchError: The launcher cannot start it.
    """
    require_program(spec.program)
    build = find(launcher)
    if library := other_mpi_of(spec.program[0], build):
        mpi = f"{launcher.path} ({_mpi_of(launcher)})"
        _report(f"{spec.program[0]} is linked with {library}, which is not the MPI of {mpi}")
    with (
        scratch_folder("fairlead-trace-") as work_dir,
        scratch_folder(".fairlead-trace-", _find_shared_folder()) as shared,
        folder_of_shares(_visible_to(spec, shares) or shared / "shares") as folder,
    ):
        file = shared.absolute() / "trace"
        notes = shared.absolute() / "exclusive"
        interval_s = None if early_end is None else early_end.interval_s
        paths = {"FAIRLEAD_TRACE": file, "FAIRLEAD_SHARES": folder, "FAIRLEAD_EXCLUSIVE": notes}
        start = _prepare_traced_start(launcher, _with_interval(spec, interval_s), build, paths)
        if start.lack:
            if not runs_untraced:
                raise NoTraceError(f"{start.lack}; nothing was started")
            _report(f"{start.lack}; it runs as the launcher alone starts it")
        argv = launcher.prepare_command(start.spec, work_dir)
        words = _OurWords()
        with (
            _outputs(log, stdout, words) as (out, errors),
            # Inside a container, libraries have other paths than on the host.
            contextlib.nullcontext()
            if container_of(spec.program)
            else report_other_mpi(
                f"FAIRLEAD_TRACE={file}", build, _report, env=mpi_builds.library_path(launcher)
            ),
        ):
            finished = run(
                argv,
                timeout_s=timeout_s,
                is_over=None if early_end is None else partial(early_end.is_over, folder),
                stdin=stdin,
                stdout=out,
                stderr=errors,
                is_users=True,
            )
        exclusive = exclusive_files(notes, Path.cwd())
        origin = origin_of(launcher, spec) | {"seconds": finished.seconds}
        left = LeftTrace(file, folder, spec, origin)
        try:
            traffic = _traffic_of(
                *(finished, launcher, left),
                lack=start.lack, first_words=words.first, log=log,
            )  # fmt: skip
        except TraceError as error:
            error.seconds, error.signal, error.exclusive, error.is_stopped = (
                finished.seconds, finished.signal, exclusive, finished.is_over,
            )  # fmt: skip
            if not isinstance(error, NoTraceError):
                error.traffic = left.traffic_or_none()
            raise
    return TracedRun(traffic, finished.seconds, exclusive, finished.is_over)


def _traffic_of(
    finished: Finished,
    launcher: Launcher,
    left: LeftTrace,
    *,
    lack: str,
    first_words: str | None,
    log: Path | str | None,
) -> Traffic:
    """What the run left, if it did not fail.

    Raises:
        TraceError: It failed, was ended, or left nothing of use.
    """
    if finished.signal is not None:
        name = signal.Signals(finished.signal).name
        raise TracedRunEndedError(
            f"ended with exit code {finished.returncode} after {name}", finished.returncode
        )
    if finished.returncode != 0 and not finished.is_over:
        raise _failure(left.spec, finished.returncode, first_words, log)
    if lack:
        raise NoTraceError(lack)
    if not left.is_there():
        raise _no_trace(launcher, left.spec, first_words)
    return left.traffic()


class _TracedStart(NamedTuple):
    """How the program is started.

    Attributes:
        spec: With the library, or without it.
        lack: Why it is without; empty where it is with it.
    """

    spec: LaunchSpec
    lack: str = ""


def _prepare_traced_start(
    launcher: Launcher, spec: LaunchSpec, build: MpiBuild, paths: Mapping[str, Path]
) -> _TracedStart:
    """The start with the libraries that write the trace, and note files created with O_EXCL."""
    noting = find_library_of_files()
    others = [] if noting is None else [noting]
    try:
        entry = find_entry(launcher, spec, paths["FAIRLEAD_TRACE"].parent, build, others)
    except NoEntryError as error:
        return _TracedStart(spec, f"{spec.program[0]}: the program inside is not traced: {error}")
    used = {name: path for name, path in paths.items() if noting or name != "FAIRLEAD_EXCLUSIVE"}
    return _TracedStart(entry.preload(spec, [entry.build.intercept, *others], used))


def _with_interval(spec: LaunchSpec, interval_s: float | None) -> LaunchSpec:
    if interval_s is None:
        return spec
    interval = {"FAIRLEAD_SHARE_INTERVAL": f"{interval_s:g}"}
    return dataclasses.replace(spec, env={**spec.env, **interval})


def _visible_to(spec: LaunchSpec, shares: Path | None) -> Path | None:
    """The folder, but not for a program in a container, which sees only that of the trace."""
    return None if container_of(spec.program) else shares


def _report(line: str) -> None:
    print(f"fairlead: {line}", file=sys.stderr, flush=True)


def require_program(program: Sequence[str]) -> None:
    """Check that there is such a program on this machine.

    Raises:
        TraceError: There is none; the message names it.
    """
    name = program[0] if program else ""
    if shutil.which(name) is None:
        found = Path(name).exists()
        problem = "is not an executable program" if found else "no such program"
        raise TraceError(f"{name}: {problem}; nothing was started")


def _find_shared_folder() -> Path | None:
    # Programs are started in the current folder on every host, so the hosts share this folder.
    return Path.cwd() if os.access(Path.cwd(), os.W_OK) else None


_CAUSES = ("no trace was written", "tracing is switched off")


class _OurWords:
    """Keeps the preload library's first line, or the first one that names why there is no trace."""

    first: str | None = None

    def hear(self, line: bytes) -> None:
        if not line.startswith(_BEGIN):
            return
        words = line.removeprefix(_BEGIN).decode("utf-8", "replace").rstrip("\n")
        if self.first is None or (words.startswith(_CAUSES) and not self.first.startswith(_CAUSES)):
            self.first = words


@contextlib.contextmanager
def _outputs(log: Path | str | None, stdout: int, words: _OurWords) -> Iterator[tuple[int, int]]:
    """File descriptors for output and error output."""
    if log is None:
        with copy_output([2], words.hear) as errors:
            yield stdout, errors
        return
    try:
        stream = Path(log).open("ab")  # noqa: SIM115 (closed below; its own errors are not ours)
    except OSError:  # The output is seen all the same.
        stream = Path(os.devnull).open("ab")  # noqa: SIM115
    with (
        stream,
        copy_output([stdout, stream.fileno()]) as out,
        copy_output([2, stream.fileno()], words.hear) as errors,
    ):
        yield out, errors


def _failure(
    spec: LaunchSpec, returncode: int, said: str | None, log: Path | str | None
) -> TraceError:
    details = f"; {said}" if said else ""
    where = f"; its output is in {log}" if log is not None else ""
    return TraceError(
        f"{spec.program[0]}: failed in the traced run with exit code {returncode}{details}{where}",
        returncode,
    )


def _mpi_of(launcher: Launcher) -> str:
    return mpi_builds.mpi_title(launcher.family, launcher.version)


def _no_trace(launcher: Launcher, spec: LaunchSpec, said: str | None) -> NoTraceError:
    mpi = _mpi_of(launcher)
    problem = f"{spec.program[0]}: the traced run left no trace"
    if said:
        return NoTraceError(f"{problem}: {said.removeprefix(_NO_TRACE)}")
    return NoTraceError(
        f"{problem}: it is no MPI program, belongs to another MPI than {launcher.path} ({mpi}), "
        "ended without MPI_Finalize, uses MPI sessions alone, or calls an MPI library that it has "
        "loaded by dlopen()"
    )


def origin_of(launcher: Launcher, spec: LaunchSpec) -> dict[str, object]:
    """Facts about a run that begins now, for the origin of its traffic.

    Its time is that of the launcher's placement and the MPI alone only without `has_levers`.
    """
    return {
        "has_levers": spec.placement is not None or "FAIRLEAD_PLAN" in spec.env,
        "program": spec.program[0],
        "arguments": list(spec.program[1:]),
        "num_ranks": spec.num_ranks,
        "launcher": str(launcher.path),
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }
