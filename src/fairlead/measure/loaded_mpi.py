# SPDX-License-Identifier: Apache-2.0
"""Which MPI library the ranks on this machine have loaded, where it is not the launcher's.

Such a program often hangs in MPI_Init: its ranks wait for a launcher of their own MPI.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from fairlead.act.mpi_builds import MpiBuild

__all__ = ["reporting_other_mpi"]

REPORT_AFTER_S = 30.0
"""A program that has started by then is in MPI_Init for longer than launchers take."""

_LIBRARY = re.compile(r"/\S*/lib(?:p?mpi|mpich)(?:-\w+)?\.so[.\d]*", re.MULTILINE)


@contextlib.contextmanager
def reporting_other_mpi(
    mark: str,
    build: MpiBuild,
    report: Callable[[str], object],
    after_s: float = REPORT_AFTER_S,
) -> Iterator[None]:
    """While the block runs, look once whether ranks have loaded another MPI, and report it.

    Args:
        mark: A variable `NAME=VALUE` that the ranks have in their environment, and no others.
        build: The part for the launcher's MPI.
        report: Gets the line, from another thread.
        after_s: When to look.
    """

    def look() -> None:
        for library in sorted(_loaded_by(mark) - _libraries_of(build.probe)):
            report(f"the program has loaded {library}, which is not the launcher's MPI")

    timer = threading.Timer(after_s, look)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _loaded_by(mark: str) -> set[str]:
    """MPI libraries of the processes with this variable."""
    found: set[str] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # It has ended, or belongs to another user.
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found |= _resolved((folder / "maps").read_text(errors="replace"))
    return found


def _libraries_of(program: Path) -> set[str]:
    """MPI libraries that the loader finds for a program."""
    command = ["ldd", str(program)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return _resolved(done.stdout)


def _resolved(text: str) -> set[str]:
    return {str(Path(library).resolve()) for library in _LIBRARY.findall(text)}
