# SPDX-License-Identifier: Apache-2.0
"""Builds Fairlead's MPI side for one more MPI, from the sources in the package."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.launch import run
from fairlead.act.mpi_builds import MpiBuild, read_build, user_folder
from fairlead.errors import LaunchError
from fairlead.files.package_folders import mpi_sources, mpi_sources_digest
from fairlead.narrator import Progress

__all__ = ["add", "first_error"]

_ERROR_LINES = re.compile(r"^(?:.*\berror\b[: ].*|make.*\*\*\* .*)$", re.IGNORECASE | re.MULTILINE)
# CMake indents the text of an error and breaks it over lines and paragraphs.
_CMAKE_ERROR = re.compile(r"^CMake Error.*:\n((?:(?:  .*)?\n)+)", re.MULTILINE)
_STEPS = 3


def add(mpicxx: Path | str, on_progress: Progress | None = None) -> MpiBuild:
    """Build for the MPI of this compiler wrapper, into the user's own folder.

    Args:
        mpicxx: The MPI's C++ compiler wrapper, a path or a name on PATH.
        on_progress: Called with the steps done and the steps in all.

    Raises:
        LaunchError: CMake or the wrapper is missing, the wrapper belongs to no MPI, or the build
            fails; nothing is left half-built.
    """
    wrapper = shutil.which(str(mpicxx))
    if wrapper is None:
        raise LaunchError(f"{mpicxx}: no such compiler wrapper; name the mpicxx of the MPI")
    cmake = shutil.which("cmake") or shutil.which("cmake", path=str(Path(sys.executable).parent))
    if cmake is None:
        raise LaunchError("cmake is missing (Debian, Ubuntu: cmake; or: pip install cmake)")
    report = on_progress or (lambda _done, _total: None)
    target = user_folder()
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=target) as name:
            work_dir = Path(name)
            build, staging = str(work_dir / "build"), work_dir / "staging"
            report(0, _STEPS)
            _configure(cmake, Path(wrapper).absolute(), build, staging)
            report(1, _STEPS)
            jobs = str(len(os.sched_getaffinity(0)))
            _step([cmake, "--build", build, "--parallel", jobs], "build", wrapper)
            report(2, _STEPS)
            _step([cmake, "--install", build], "installation", wrapper)
            report(3, _STEPS)
            return _move_into_place(staging, target)
    except OSError as error:
        raise LaunchError(f"{error.filename or target}: {error.strerror}") from error


def _configure(cmake: str, wrapper: Path, build: str, staging: Path) -> None:
    options = {
        "CMAKE_CXX_COMPILER": wrapper,
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_INSTALL_PREFIX": staging,
        "FAIRLEAD_SOURCES_DIGEST": mpi_sources_digest(),
    }
    sources = mpi_sources()
    if sources is None:
        raise LaunchError("the sources of the MPI side are missing in this package; reinstall")
    command = [cmake, "-S", str(sources), "-B", build]
    _step([*command, *(f"-D{name}={value}" for name, value in options.items())], "set-up", wrapper)


def _step(command: Sequence[str], what: str, wrapper: Path | str) -> None:
    finished = run(command, env={**os.environ, "LC_ALL": "C"}, capture=True)
    if finished.returncode != 0:
        problem = first_error(finished.stdout + finished.stderr)
        raise LaunchError(f"{wrapper}: the {what} failed: {problem}")


def first_error(output: str) -> str:
    """The first line of a build's output that names an error."""
    found = _CMAKE_ERROR.search(output)
    if found:
        return " ".join(found[1].split()).rstrip(": ")
    line = _ERROR_LINES.search(output)
    return line[0].strip() if line else (output.strip().splitlines() or ["no output"])[-1]


def _move_into_place(staging: Path, target: Path) -> MpiBuild:
    (record,) = staging.glob("*/mpi.json")
    built = record.parent
    final = target / built.name
    if final.exists():
        final.rename(staging / "replaced")
    built.rename(final)
    return read_build(final / record.name)
