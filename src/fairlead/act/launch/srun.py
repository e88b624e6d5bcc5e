# SPDX-License-Identifier: Apache-2.0
"""Slurm's `srun`: starts the ranks of any MPI in the job that this process runs in."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from fairlead.act.launch._cpu_list import common_cpu_list, slurm_cpu_option
from fairlead.act.launch._exports import srun_exports
from fairlead.act.launch._placed_start import start_of_placement
from fairlead.act.launch._scheduler_launcher import SchedulerLauncher, choose_program_mpi
from fairlead.act.launch._spec_checks import (
    check_spec,
    is_in_allocation,
    option_names,
    write_once,
)
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.act.launch.slurm import is_reached_by_launchers
from fairlead.act.launch.srun_mpi import choose_mpi_type
from fairlead.errors import LaunchError

# "slurm 22.05.8", "slurm-wlm 22.05.8" (Debian).
_BANNER = re.compile(r"^slurm(?:-wlm)? (\d+)\.(\d+)", re.MULTILINE)

# Options that choose hosts or the number of ranks.
_HOST_OPTIONS = frozenset(
    {"n", "ntasks", "N", "nodes", "w", "nodelist", "x", "exclude", "F", "nodefile", "het-group"}
)

_FIRST_WITH_OVERLAP = (20, 11)  # And with --exact.


@dataclasses.dataclass(frozen=True)
class Srun(SchedulerLauncher):
    """srun inside a job; what is said below of its options was seen with Slurm 22.05.8.

    Attributes:
        path: The program.
        slurm_version: Slurm's version.
        mpi: The MPI of the program that is to run, or of this environment.
        mpi_type: How processes find each other, as `--mpi` takes it; None leaves it to Slurm.
    """

    path: Path
    slurm_version: tuple[int, ...]
    mpi: ProgramMpi
    mpi_type: str | None = None
    name: str = "srun"
    agent_variables: tuple[str, ...] = ()
    agent_options: tuple[str, ...] = ()

    @classmethod
    def recognise(cls, path: Path, banner: str, program: str | None = None) -> Srun | None:
        """This launcher, when `banner` (the output of `--version`) is its own.

        Args:
            path: The launcher.
            banner: What it prints.
            program: The program that is to run, whose libraries show the MPI; None for the MPI of
                this environment.

        Raises:
            LaunchError: This is no job of Slurm, or there is no MPI.
        """
        found = _BANNER.search(banner)
        if found is None:
            return None
        if "SLURM_JOB_ID" not in os.environ:
            raise LaunchError(
                f"{path}: this is no job of Slurm, and each start by srun would wait in the queue "
                "as a job of its own; run inside sbatch or salloc"
            )
        mpi, is_of_program = choose_program_mpi(path, program)
        slurm_version = tuple(int(part) for part in found.groups())
        return cls(path, slurm_version, mpi, choose_mpi_type(path, mpi, is_of_program))

    @property
    def has_name_service(self) -> bool:
        """Slurm's PMIx, by which Open MPI starts, has none; for other MPIs the library tries."""
        return self.mpi.family != "openmpi"

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, _HOST_OPTIONS)
        if spec.cluster is not None and not is_reached_by_launchers(spec.cluster.hosts):
            raise LaunchError(
                "srun places the ranks of each component of a heterogeneous job by itself; start "
                "the program by mpirun, or give the hosts of the first component by -H"
            )

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        spec = start_of_placement(spec, unbinding=("--cpu-bind=none",))
        arguments, program = srun_exports(spec.env, spec.launcher_args, spec.program)
        return [
            str(self.path),
            *self._step_options(spec),
            *self._mpi_option(spec),
            *_hosts(spec, work_dir),
            *(() if spec.num_ranks is None else (f"--ntasks={spec.num_ranks}",)),
            *_cpu_option(spec),
            *arguments,
            *program,
        ]

    def _step_options(self, spec: LaunchSpec) -> list[str]:
        """Which CPUs the step takes: by default steps of a job wait until others have ended."""
        options = []
        if self.slurm_version >= _FIRST_WITH_OVERLAP:
            # What runs at the same time as the program, or in a step already, shares its CPUs.
            if spec.is_tool or "SLURM_STEP_ID" in os.environ:
                options.append("--overlap")
            elif spec.shares_hosts:  # A step takes whole hosts, unless it is exact.
                options.append("--exact")
        # One Ctrl-C makes srun report where its tasks are; only a second one ends it.
        return [*options, *(["--input=0", "--quit-on-interrupt"] if spec.is_tool else [])]

    def _mpi_option(self, spec: LaunchSpec) -> list[str]:
        by_variable = os.environ.get("SLURM_MPI_TYPE", "none") != "none"  # Steps have it, too.
        is_chosen = by_variable or "mpi" in option_names(spec.launcher_args)
        return [] if is_chosen or self.mpi_type is None else [f"--mpi={self.mpi_type}"]


def _hosts(spec: LaunchSpec, work_dir: Path) -> list[str]:
    """A line of the file for each rank. Source: srun(1), `--distribution=arbitrary`."""
    if spec.placement is not None:
        hosts = spec.placement.host_names()
        file = write_once(work_dir, "ranks", hosts)
        return ["--distribution=arbitrary", f"--nodes={len({*hosts})}", f"--nodelist={file}"]
    if spec.cluster is None or is_in_allocation(spec):
        return []
    hosts = list(spec.cluster.hosts)
    return [f"--nodes={len(hosts)}", f"--nodelist={','.join(hosts)}"]


def _cpu_option(spec: LaunchSpec) -> list[str]:
    """The CPUs of ranks by one list for all hosts, since there is no other.

    Raises:
        LaunchError: The hosts need different lists.
    """
    if spec.cpus is None:
        return []
    return [slurm_cpu_option(common_cpu_list(spec, "srun"))]
