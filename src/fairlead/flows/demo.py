# SPDX-License-Identifier: Apache-2.0
"""`fairlead demo`: a solver on an emulated cloud, placed by many methods, and the results."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.decide.placement import METHODS
from fairlead.errors import Error
from fairlead.files import run_directory
from fairlead.flows.compare.comparison import Comparison
from fairlead.lab import Lab

TIME_PATTERN = r"solve_s\s+([0-9.]+)"
"""Matches the time of the solve in the output of `examples/cg`: a placement does not change the
time of starting 32 ranks on one machine."""

LEFT_OUT = ("scotch-intra", "scotch-inter", "geometric")
"""CloudMap's halves show where its gain comes from, and are not meant for use; the hosts of the
emulated cloud have no coordinates."""

SHOWN = [method for method in METHODS if method not in LEFT_OUT]


@dataclasses.dataclass(frozen=True)
class Demo:
    """Options of the demonstration.

    With this size, messages have about 100 KiB, so that the emulated links limit the speed and not
    the shared cores.

    Attributes:
        scenario: Scenario of the emulated cloud.
        num_ranks: Ranks of the solver, a power of two.
        repeats: Runs per method.
        mpirun: The launcher; None looks for it.
        arguments: Arguments of `examples/cg`.
    """

    scenario: str = "two-racks"
    num_ranks: int = 32
    repeats: int = 5
    mpirun: str | None = None
    arguments: Sequence[str] = ("--size", "56000", "--systems", "1")


def demonstrate(demo: Demo, folder: Path) -> Comparison:
    """Bring the cloud up, compare the methods in it, take it down.

    Args:
        demo: What to run.
        folder: New folder for the record of the run.

    Returns:
        The comparison.

    Raises:
        Error: The cloud could not be built, or the comparison failed.
    """
    solver = find(detect(demo.mpirun)).example("cg")
    with Lab.up(demo.scenario) as lab:
        command = _compare_command(demo, lab.hostfile, folder, [str(solver), *demo.arguments])
        finished = lab.run(command, stdout=subprocess.DEVNULL)
    if finished.returncode != 0:
        raise Error(f"the comparison in the lab ended with exit code {finished.returncode}")
    return Comparison.load(folder / run_directory.COMPARISON)


def _compare_command(demo: Demo, hostfile: Path, folder: Path, program: Sequence[str]) -> list[str]:
    launcher = [] if demo.mpirun is None else ["--mpirun", demo.mpirun]
    return [
        *(sys.executable, "-m", "fairlead", "compare"),
        *("-n", str(demo.num_ranks), "--hostfile", str(hostfile), *launcher),
        *("--methods", ",".join(SHOWN), "--repeats", str(demo.repeats)),
        *("--time-pattern", TIME_PATTERN),
        *("--network", "probe:", "--run-dir", str(folder), "--", *program),
    ]
