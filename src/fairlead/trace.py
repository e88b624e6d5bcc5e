# SPDX-License-Identifier: Apache-2.0
"""Running a program once to learn which of its ranks talk to which."""

from __future__ import annotations

import dataclasses
import datetime
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fairlead import mpi_builds
from fairlead.archive import write_text
from fairlead.errors import InputError, TraceError
from fairlead.launch import Finished, Job, Launcher, run
from fairlead.preload import preloaded
from fairlead.trace_file import read_trace
from fairlead.traffic import Traffic

__all__ = ["require_program", "trace"]


def trace(
    launcher: Launcher,
    job: Job,
    *,
    log: Path | str | None = None,
    timeout_s: float | None = None,
    stdin: int = 0,
) -> Traffic:
    """Run the job once under the preload library and return what its ranks sent.

    The program's results are its own: the library only counts. World rank 0 writes the counts
    into a folder below the current one, which has to be visible on the host of that rank.

    Args:
        launcher: Launcher of the MPI that the program is built with.
        job: The program; its variables stay, LD_PRELOAD is added to.
        log: File that gets the program's output; without it the output is let through.
        timeout_s: The program is stopped after this time; None waits for it.
        stdin: File descriptor that the program reads as its standard input.

    Returns:
        The traffic; `origin` holds program, arguments, launcher, MPI and time.

    Raises:
        TraceError: There is no such program, it failed, or it left no trace.
        LaunchError: The launcher cannot start it.
    """
    require_program(job.program)
    library = mpi_builds.find(launcher).intercept
    with (
        tempfile.TemporaryDirectory(prefix="fairlead-trace-") as work_dir,
        tempfile.TemporaryDirectory(prefix=".fairlead-trace-", dir=_shared_folder()) as shared,
    ):
        file = Path(shared).absolute() / "trace"
        traced = dataclasses.replace(job, env=preloaded(job.env, library, FAIRLEAD_TRACE=str(file)))
        argv = launcher.command(traced, Path(work_dir))
        finished = run(argv, capture=log is not None, timeout_s=timeout_s, stdin=stdin)
        if log is not None:
            write_text(log, finished.stdout + finished.stderr)
        _require_success(launcher, job, finished, file, log)
        traffic = _read(file, job)
    return dataclasses.replace(traffic, origin=traffic.origin | _origin(launcher, job))


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
    # Programs are started in the current folder on every host, so it is the one they share.
    return Path.cwd() if os.access(Path.cwd(), os.W_OK) else None


def _require_success(
    launcher: Launcher, job: Job, finished: Finished, file: Path, log: Path | str | None
) -> None:
    program = job.program[0]
    said = [line for line in finished.stderr.splitlines() if line.startswith("fairlead: ")]
    details = f"; {said[0].removeprefix('fairlead: ')}" if said else ""
    if finished.returncode != 0:
        where = f"; its output is in {log}" if log is not None else ""
        raise TraceError(
            f"{program}: failed in the traced run with exit code {finished.returncode}"
            f"{details}{where}"
        )
    if not file.exists():
        mpi = f"{launcher.name} {'.'.join(map(str, launcher.version))}"
        raise TraceError(
            f"{program}: the traced run left no trace{details}: it is no MPI program, belongs to "
            f"another MPI than {launcher.path} ({mpi}), or ended without MPI_Finalize"
        )


def _read(file: Path, job: Job) -> Traffic:
    try:
        traffic = read_trace(file)
    except InputError as error:
        raise TraceError(f"{job.program[0]}: the traced run left an unusable trace: {error}") from (
            error
        )
    if traffic.num_ranks != job.num_ranks:
        raise TraceError(
            f"{job.program[0]}: {job.num_ranks} ranks were started, but MPI_COMM_WORLD had "
            f"{traffic.num_ranks}: the program belongs to another MPI than the launcher"
        )
    return traffic


def _origin(launcher: Launcher, job: Job) -> dict[str, object]:
    return {
        "program": job.program[0],
        "arguments": list(job.program[1:]),
        "num_ranks": job.num_ranks,
        "launcher": str(launcher.path),
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }
