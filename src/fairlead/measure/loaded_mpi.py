# SPDX-License-Identifier: Apache-2.0
"""Which MPI library a program needs or its ranks have loaded, where it is not the launcher's.

Such a program often hangs in MPI_Init: its ranks wait for a launcher of their own MPI.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from fairlead.act.linked_libraries import list_libraries
from fairlead.act.mpi_builds import MpiBuild

__all__ = ["other_mpi_of", "report_other_mpi"]

REPORT_AFTER_S = 30.0
"""A program that has started by then is in MPI_Init for longer than launchers take."""

_NAME = r"lib(?:p?mpi|mpich|mpi_abi)(?:-\w+)?\.so[.\d]*"
_LIBRARY = re.compile(rf"/\S*/{_NAME}", re.MULTILINE)
_NEEDED = re.compile(rf"^\s*({_NAME}) =>", re.MULTILINE)


def other_mpi_of(program: str, build: MpiBuild) -> str | None:
    """The MPI library that a program is linked with, where the launcher's MPI has none of its name.

    Args:
        program: A name on PATH, or a path; nothing is known of one that is a script.
        build: The part for the launcher's MPI.
    """
    path = shutil.which(program)
    needed = _NEEDED.findall(list_libraries(path)) if path else []
    others = {*needed} - {*_NEEDED.findall(list_libraries(build.probe))}
    return min(others) if needed and len(others) == len({*needed}) else None


@contextlib.contextmanager
def report_other_mpi(
    mark: str,
    build: MpiBuild,
    report: Callable[[str], object],
    *,
    env: Mapping[str, str] | None = None,
    after_s: float = REPORT_AFTER_S,
) -> Iterator[None]:
    """While the block runs, look once whether ranks have loaded another MPI, and report it.

    Args:
        mark: A variable `NAME=VALUE` that the ranks have in their environment, and no others.
        build: The part for the launcher's MPI.
        report: Gets the line, from another thread.
        env: Variables with which the part's programs load the launcher's own library.
        after_s: When to look.
    """

    def look() -> None:
        for library in sorted(_find_loaded(mark) - _resolve(list_libraries(build.probe, env))):
            report(f"the program has loaded {library}, which is not the launcher's MPI")

    timer = threading.Timer(after_s, look)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _find_loaded(mark: str) -> set[str]:
    """MPI libraries of the processes with this variable."""
    found: set[str] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # It has ended, or belongs to another user.
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found |= _resolve((folder / "maps").read_text(errors="replace"))
    return found


def _resolve(text: str) -> set[str]:
    return {str(Path(library).resolve()) for library in _LIBRARY.findall(text)}
