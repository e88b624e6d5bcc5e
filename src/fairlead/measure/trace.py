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
from pathlib import Path
from typing import NamedTuple

from fairlead.act import mpi_builds
from fairlead.act.launch import Finished, Launcher, LaunchSpec, copied, run
from fairlead.act.mpi_builds import MpiBuild
from fairlead.act.preload import preloaded
from fairlead.errors import InputError, NoTraceError, TracedRunEndedError, TraceError
from fairlead.files.scratch import scratch_folder
from fairlead.measure.loaded_mpi import other_mpi_of, reporting_other_mpi
from fairlead.measure.trace_file import read_trace
from fairlead.measure.working_folder import exclusive_files, noting_library
from fairlead.model.traffic import Traffic

__all__ = ["TracedRun", "require_program", "trace"]

# The beginning of each line of the preload library.
_BEGIN = b"fairlead: "
# The beginning of a line on why a program that ended as it should has left no trace.
_NO_TRACE = "no trace was written: "


class TracedRun(NamedTuple):
    """One run under the preload library.

    Attributes:
        traffic: What its ranks sent.
        seconds: From the start of the launcher to its end.
        exclusive: Files in the working folder that it created with O_EXCL and left there.
    """

    traffic: Traffic
    seconds: float
    exclusive: tuple[str, ...] = ()


def trace(
    launcher: Launcher,
    spec: LaunchSpec,
    *,
    log: Path | str | None = None,
    timeout_s: float | None = None,
    stdin: int = 0,
    stdout: int = 1,
    find: Callable[[Launcher], MpiBuild] = mpi_builds.find,
) -> TracedRun:
    """Run the program once under the preload library and return what its ranks sent.

    The library only counts; the program's results do not change. World rank 0 writes the counts
    into a folder below the current one, which has to be visible on the host of that rank.

    Args:
        launcher: Launcher of the MPI that the program is built with.
        spec: The program; its variables stay, LD_PRELOAD is added to.
        log: File that also gets the program's output while it runs.
        timeout_s: The program is stopped after this time; None waits for it.
        stdin: File descriptor that the program reads as its standard input.
        stdout: File descriptor that gets what it prints, as it comes; its error output goes to this
            process's own.
        find: The library for a launcher's MPI; as `fairlead.act.mpi_builds.find`.

    Returns:
        The traffic, whose `origin` holds program, arguments, launcher, MPI and time; and the time
        of the run.

    Raises:
        TraceError: There is no such program, or it failed (the error has its exit code);
            NoTraceError where it succeeded, but left no trace that can be used.
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
        scratch_folder(".fairlead-trace-", _shared_folder()) as shared,
    ):
        file = shared.absolute() / "trace"
        notes = shared.absolute() / "exclusive"
        env = preloaded(_noting(spec.env, notes), build.intercept, FAIRLEAD_TRACE=str(file))
        traced = dataclasses.replace(spec, env=env)
        argv = launcher.prepare_command(traced, work_dir)
        words = _OurWords()
        with (
            _outputs(log, stdout, words) as (out, errors),
            reporting_other_mpi(
                f"FAIRLEAD_TRACE={file}", build, _report, env=mpi_builds.library_path(launcher)
            ),
        ):
            finished = run(
                argv, timeout_s=timeout_s, stdin=stdin, stdout=out, stderr=errors, is_users=True
            )
        exclusive = exclusive_files(notes, Path.cwd())
        try:
            traffic = _traffic_of(finished, launcher, spec, file, first_words=words.first, log=log)
        except TraceError as error:
            error.seconds, error.signal, error.exclusive = (
                finished.seconds, finished.signal, exclusive,
            )  # fmt: skip
            raise
    origin = traffic.origin | _origin(launcher, spec) | {"seconds": finished.seconds}
    return TracedRun(dataclasses.replace(traffic, origin=origin), finished.seconds, exclusive)


def _traffic_of(
    finished: Finished,
    launcher: Launcher,
    spec: LaunchSpec,
    file: Path,
    *,
    first_words: str | None,
    log: Path | str | None,
) -> Traffic:
    """What the run left in the file.

    Raises:
        TraceError: It failed, was ended, or left nothing of use.
    """
    if finished.signal is not None:
        name = signal.Signals(finished.signal).name
        raise TracedRunEndedError(
            f"ended with exit code {finished.returncode} after {name}", finished.returncode
        )
    if finished.returncode != 0:
        raise _failure(spec, finished.returncode, first_words, log)
    if not file.exists():
        raise _no_trace(launcher, spec, first_words)
    return _read(file, spec)


def _noting(env: Mapping[str, str], notes: Path) -> Mapping[str, str]:
    """The variables with which files that are created with O_EXCL are noted."""
    library = noting_library()
    return env if library is None else preloaded(env, library, FAIRLEAD_EXCLUSIVE=str(notes))


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


def _shared_folder() -> Path | None:
    # Programs are started in the current folder on every host, so the hosts share this folder.
    return Path.cwd() if os.access(Path.cwd(), os.W_OK) else None


class _OurWords:
    """Keeps the preload library's first line."""

    first: str | None = None

    def hear(self, line: bytes) -> None:
        if self.first is None and line.startswith(_BEGIN):
            self.first = line.removeprefix(_BEGIN).decode("utf-8", "replace").rstrip("\n")


@contextlib.contextmanager
def _outputs(log: Path | str | None, stdout: int, words: _OurWords) -> Iterator[tuple[int, int]]:
    """File descriptors for output and error output."""
    if log is None:
        with copied([2], words.hear) as errors:
            yield stdout, errors
        return
    try:
        stream = Path(log).open("ab")  # noqa: SIM115 (closed below; its own errors are not ours)
    except OSError:  # The output is seen all the same.
        stream = Path(os.devnull).open("ab")  # noqa: SIM115
    with (
        stream,
        copied([stdout, stream.fileno()]) as out,
        copied([2, stream.fileno()], words.hear) as errors,
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


def _read(file: Path, spec: LaunchSpec) -> Traffic:
    try:
        traffic = read_trace(file)
    except InputError as error:
        raise NoTraceError(
            f"{spec.program[0]}: the traced run left an unusable trace: {error}"
        ) from error
    if traffic.num_ranks != spec.num_ranks:
        raise NoTraceError(
            f"{spec.program[0]}: {spec.num_ranks} ranks were started, but MPI_COMM_WORLD had "
            f"{traffic.num_ranks}: the program belongs to another MPI than the launcher"
        )
    return traffic


def _origin(launcher: Launcher, spec: LaunchSpec) -> dict[str, object]:
    return {
        "program": spec.program[0],
        "arguments": list(spec.program[1:]),
        "num_ranks": spec.num_ranks,
        "launcher": str(launcher.path),
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }
