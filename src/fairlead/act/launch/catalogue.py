# SPDX-License-Identifier: Apache-2.0
"""All supported launchers, and how the one on this machine is found."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.launch.flux import Flux
from fairlead.act.launch.flux_instance import is_in_flux
from fairlead.act.launch.intel import IntelMpi
from fairlead.act.launch.launch_spec import Launcher
from fairlead.act.launch.mpi_library import find_standard_abi
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.act.launch.process import run
from fairlead.act.launch.srun import Srun
from fairlead.act.linked_libraries import list_libraries
from fairlead.errors import LaunchError

__all__ = ["LAUNCHERS", "detect"]

MPI_LAUNCHERS = (OpenMpi5, OpenMpi4, Mpich, IntelMpi)
"""Launchers that belong to an MPI."""

SCHEDULER_LAUNCHERS = (Srun, Flux)

LAUNCHERS = (*MPI_LAUNCHERS, *SCHEDULER_LAUNCHERS)

_KNOWN = "Open MPI 4, Open MPI 5, MPICH, Intel MPI, srun and flux"
ANSWER_TIMEOUT_S = 20.0
"""Guards against a launcher that hangs; `--version` takes a tenth of a second."""


def detect(
    mpirun: str | None = None,
    program: Sequence[str] = (),
    *,
    timeout_s: float = ANSWER_TIMEOUT_S,
) -> Launcher:
    """Find the MPI launcher and identify it by `--version`.

    Args:
        mpirun: Name or path of the launcher. Without it, the environment variable FAIRLEAD_MPIRUN
            is used, then `mpirun` or `mpiexec` on PATH, then `flux` in an instance of Flux,
            then `srun` in a job of Slurm.
        program: The program that it is to start, with its arguments: the launcher of a scheduler
            shows no MPI, and MPICH's and Intel's also start programs of the interface of MPI 5.
            Without it, it is the MPI of this environment.
        timeout_s: Time within which it must answer.

    Raises:
        LaunchError: There is none, it does not answer, or it is not supported.
    """
    path = _find(mpirun)
    banner = _banner(path, timeout_s)
    found: Launcher | None
    for scheduler in SCHEDULER_LAUNCHERS:
        found = scheduler.recognise(path, banner, program[0] if program else None)
        if found is not None:
            return found
    for launcher in MPI_LAUNCHERS:
        found = launcher.recognise(path, banner)
        if found is not None:
            return _with_abi_of(program, found)
    first_line = next((line.strip() for line in banner.splitlines() if line.strip()), "nothing")
    raise LaunchError(
        f"{path}: unknown launcher: --version says {first_line[:80]!r}; Fairlead supports "
        f"{_KNOWN}; name another one by --mpirun or FAIRLEAD_MPIRUN"
    )


def _with_abi_of(program: Sequence[str], launcher: Launcher) -> Launcher:
    if not isinstance(launcher, (Mpich, IntelMpi)):
        return launcher
    path = shutil.which(program[0]) if program else None
    abi = find_standard_abi(list_libraries(path)) if path else None
    if abi is None:
        return launcher
    # With this interface Intel MPI ends a program over a name that is not there.
    has_names = launcher.has_name_service and not isinstance(launcher, IntelMpi)
    return dataclasses.replace(launcher, abi=abi, has_name_service=has_names)


def _find(mpirun: str | None) -> Path:
    from_environment = os.environ.get("FAIRLEAD_MPIRUN")
    if mpirun or from_environment:
        wanted = mpirun or from_environment or ""
        origin = "--mpirun" if mpirun else "FAIRLEAD_MPIRUN"
        found = shutil.which(wanted)
        if found is None:
            raise LaunchError(
                f"{wanted}: no such program (from {origin}); name the launcher of {_KNOWN}"
            )
        # Links are not resolved: some launchers behave differently under another name.
        return Path(found).absolute()
    for name in ("mpirun", "mpiexec"):
        found = shutil.which(name)
        if found is not None:
            return Path(found).absolute()
    # An instance may run in a job of Slurm, which is further out.
    if is_in_flux() and (found := shutil.which("flux")) is not None:
        return Path(found).absolute()
    if "SLURM_JOB_ID" in os.environ and (found := shutil.which("srun")) is not None:
        return Path(found).absolute()
    raise LaunchError(
        "no MPI launcher: looked for FAIRLEAD_MPIRUN, then mpirun and mpiexec on PATH, flux in "
        "an instance of Flux, and srun in a job of Slurm; install one "
        "(Debian, Ubuntu: openmpi-bin or mpich), or name it by --mpirun"
    )


def _banner(path: Path, timeout_s: float) -> str:
    answer = run([str(path), "--version"], capture=True, timeout_s=timeout_s)
    return answer.stdout + answer.stderr
