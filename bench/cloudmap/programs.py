# SPDX-License-Identifier: Apache-2.0
"""Programs to be placed: our examples, and codes as Debian packages them."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import fairlead as fl
from fairlead.act.launch import LaunchSpec, detect, read_hostfile
from fairlead.act.mpi_builds import find
from fairlead.lab import Lab

REAL_CODES = Path(__file__).resolve().parents[2] / "examples" / "real-codes"
MOST_S = 600  # A run that takes longer hangs.


@dataclasses.dataclass(frozen=True)
class Program:
    """A program, and how to know what a run of it took.

    Attributes:
        command: Name of an example, or of a program on the PATH, and arguments.
        pattern: Finds its own times, whose sum counts: starting 32 ranks on one machine is no part
            of what a placement can change. With two groups these are minutes, or none, and seconds.
        num_ranks: Ranks of each run.
        inputs: Files that it wants in its folder.
        output: File of that folder with the times; None: what it prints.
    """

    command: tuple[str, ...]
    pattern: str = r"^solve_s\s+([0-9.eE+-]+)"
    num_ranks: int = 32
    inputs: tuple[Path, ...] = ()
    output: str | None = None

    @property
    def argv(self) -> tuple[str, ...]:
        """The command line for the default launcher's MPI."""
        name, *arguments = self.command
        if name in EXAMPLES:
            return (str(find(detect()).example(name)), *arguments)
        return self.command

    @property
    def is_here(self) -> bool:
        """Whether it is installed."""
        return self.command[0] in EXAMPLES or shutil.which(self.command[0]) is not None


EXAMPLES = ("cg", "stencil", "fft", "nbody")

PROGRAMS = {
    "cg": Program(("cg", "--size", "56000", "--systems", "1")),
    "stencil": Program(("stencil", "--size", "128", "--steps", "40")),
    "fft": Program(("fft", "--size", "64", "--systems", "4")),
    "lammps": Program(
        ("lmp", "-in", str(REAL_CODES / "in.melt"), "-log", "none"), r"^Loop time of ([0-9.]+)"
    ),
    # Its three programs that print their times; more ranks take minutes (docs/howto/real-codes.md).
    "hpcc": Program(
        ("hpcc",),
        r"^(?:HPL|PTRANS|MPIRandomAccess)_time=([0-9.eE+-]+)",
        num_ranks=8,
        inputs=(REAL_CODES / "hpccinf.txt",),
        output="hpccoutf.txt",
    ),
}

SHORT = Program(("cg", "--size", "7000", "--systems", "1"), num_ranks=8)
"""Shows that a benchmark works: it takes no longer than its start."""


def traced(lab: Lab, program: Program, folder: Path) -> fl.Traffic:
    """The traffic of one traced run in a folder of the program."""
    file = folder / "run.traffic.npz"
    arguments = ["-n", str(program.num_ranks), "--hostfile", str(lab.hostfile), "-o", str(file)]
    fairlead(lab, "trace", *arguments, "--", *program.argv, cwd=prepared(program, folder))
    return fl.Traffic.load(file)


def traced_here(program: Program, file: Path) -> fl.Traffic:
    """The traffic of a traced run on this machine: it does not depend on where ranks are."""
    words = ["trace", "-n", str(program.num_ranks), "-o", str(file)]
    command = [sys.executable, "-m", "fairlead", *words]
    launcher = ["--launcher-args=--oversubscribe --mca mpi_yield_when_idle 1"]
    subprocess.run(
        [*command, *launcher, "--", *program.argv],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=file.parent,
    )
    return fl.Traffic.load(file)


def prepared(program: Program, folder: Path) -> Path:
    """The folder with the program's inputs and without a former run's output."""
    folder.mkdir(exist_ok=True)
    for file in program.inputs:
        shutil.copy(file, folder)
    if program.output is not None:
        (folder / program.output).unlink(missing_ok=True)
    return folder


def command_of(
    lab: Lab,
    program: Program,
    placement: fl.Placement | None,
    folder: Path,
    cluster: fl.Cluster | None = None,
) -> list[str]:
    """The launcher's command line for a placement; None leaves it to the launcher.

    Args:
        lab: The cloud.
        program: What is started.
        placement: Where.
        folder: Is made, for the launcher's files.
        cluster: Hosts and slots; None for those of the cloud's hostfile.
    """
    folder.mkdir()
    cluster = cluster or read_hostfile(lab.hostfile)
    return detect().prepare_command(
        LaunchSpec(program.argv, program.num_ranks, cluster, placement), folder
    )


def timed(lab: Lab, program: Program, command: Sequence[str], folder: Path) -> float:
    """Seconds that the program itself prints in one run in its folder."""
    run = lab.run(
        command, cwd=prepared(program, folder), capture_output=True, text=True, timeout=MOST_S
    )
    return time_of(program, run, folder)


def time_of(program: Program, run: subprocess.CompletedProcess[str], folder: Path) -> float:
    """Seconds that the program printed in a finished run in its folder."""
    output = run.stdout
    if program.output is not None and (folder / program.output).exists():
        output = (folder / program.output).read_text()
    found = re.findall(program.pattern, output, re.MULTILINE)
    if run.returncode != 0 or not found:
        raise RuntimeError(f"a run failed: {run.args}\n{run.stdout}{run.stderr}")
    return sum(map(_seconds, found))


def _seconds(found: str | tuple[str, str]) -> float:
    minutes, seconds = ("", found) if isinstance(found, str) else found
    return 60 * float(minutes or 0) + float(seconds)


def probed(lab: Lab, file: Path, *options: str) -> fl.Network:
    """The network as `fairlead probe` with these options sees it."""
    fairlead(lab, "probe", "--hostfile", str(lab.hostfile), "-o", str(file), *options)
    return fl.Network.load(file)


def fairlead(lab: Lab, *arguments: str, cwd: Path | None = None) -> None:
    """Run a command of Fairlead in the lab."""
    command = [sys.executable, "-m", "fairlead", *arguments]
    lab.run(command, check=True, stdout=subprocess.DEVNULL, cwd=cwd)
