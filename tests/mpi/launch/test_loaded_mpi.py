# SPDX-License-Identifier: Apache-2.0
"""A program of another MPI than the launcher's is named by the library that it has loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tracing import MPIS

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.measure.loaded_mpi import other_mpi_of, report_other_mpi

MARK = "FAIRLEAD_TRACE"
MPI_OF_PROGRAM = "mpich-4"
LIMIT_S = 60.0


def lines_about(launcher: str, mark: str) -> list[str]:
    """What is reported while a program of MPICH runs that waits for its input."""
    lines: list[str] = []
    was_reported = threading.Event()

    def report(line: str) -> None:
        lines.append(line)
        was_reported.set()

    program = MPIS[MPI_OF_PROGRAM].build("corners.c")
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(program)],
        env={**os.environ, MARK: mark},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as waiting:
        assert waiting.stdin is not None and waiting.stdout is not None
        waiting.stdout.readline()
        build = find(detect(MPIS[launcher].mpirun))
        with report_other_mpi(f"{MARK}={mark}", build, report, after_s=0.0):
            is_other = launcher != MPI_OF_PROGRAM
            was_reported.wait(LIMIT_S if is_other else 3.0)
        waiting.stdin.close()
    return lines


# Loads the libraries of the program, as the program itself does, and waits.
WAITING = """
import ctypes, re, subprocess, sys
for library in re.findall(r"=> (\\S*libmpi\\S*)", subprocess.run(
    ["ldd", sys.argv[1]], capture_output=True, text=True).stdout):
    ctypes.CDLL(library)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(("launcher", "num_lines"), [("openmpi-4", 1), (MPI_OF_PROGRAM, 0)])
def test_only_another_mpi_is_reported(launcher: str, num_lines: int, tmp_path: Path) -> None:
    lines = lines_about(launcher, str(tmp_path / "trace"))

    assert len(lines) == num_lines
    assert all("libmpich" in line and "not the launcher's MPI" in line for line in lines)


def test_a_program_of_another_mpi_is_named_before_it_starts(tmp_path: Path) -> None:
    program = str(MPIS[MPI_OF_PROGRAM].build("corners.c"))
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)

    open_mpi, mpich = (find(detect(MPIS[name].mpirun)) for name in ("openmpi-4", MPI_OF_PROGRAM))

    assert other_mpi_of(program, open_mpi) == "libmpich.so.12"
    for known in (program, str(script), "sh", "no-such-program"):
        assert other_mpi_of(known, mpich) is None
