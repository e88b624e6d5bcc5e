# SPDX-License-Identifier: Apache-2.0
"""All supported launchers, and how the one on this machine is found."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fairlead.act.launch.intel import IntelMpi
from fairlead.act.launch.launch_spec import Launcher
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.act.launch.process import run
from fairlead.errors import LaunchError

__all__ = ["LAUNCHERS", "detect"]

LAUNCHERS = (OpenMpi5, OpenMpi4, Mpich, IntelMpi)

_KNOWN = "Open MPI 4, Open MPI 5, MPICH and Intel MPI"
ANSWER_TIMEOUT_S = 20.0
"""Guards against a launcher that hangs; `--version` takes a tenth of a second."""


def detect(mpirun: str | None = None, timeout_s: float = ANSWER_TIMEOUT_S) -> Launcher:
    """Find the MPI launcher and identify it by `--version`.

    Args:
        mpirun: Name or path of the launcher. Without it, the environment variable FAIRLEAD_MPIRUN
            is used, then `mpirun` or `mpiexec` on PATH.
        timeout_s: Time within which it must answer.

    Raises:
        LaunchError: There is none, it does not answer, or it is not supported.
    """
    path = _find(mpirun)
    banner = _banner(path, timeout_s)
    for launcher in LAUNCHERS:
        found: Launcher | None = launcher.recognise(path, banner)
        if found is not None:
            return found
    first_line = next((line.strip() for line in banner.splitlines() if line.strip()), "nothing")
    raise LaunchError(
        f"{path}: unknown launcher: --version says {first_line[:80]!r}; Fairlead supports "
        f"{_KNOWN}; name another one by --mpirun or FAIRLEAD_MPIRUN"
    )


def _find(mpirun: str | None) -> Path:
    from_environment = os.environ.get("FAIRLEAD_MPIRUN")
    if mpirun or from_environment:
        wanted = mpirun or from_environment or ""
        origin = "--mpirun" if mpirun else "FAIRLEAD_MPIRUN"
        found = shutil.which(wanted)
        if found is None:
            raise LaunchError(
                f"{wanted}: no such program (from {origin}); name an mpirun of {_KNOWN}"
            )
        # Links are not resolved: some launchers behave differently under another name.
        return Path(found).absolute()
    for name in ("mpirun", "mpiexec"):
        found = shutil.which(name)
        if found is not None:
            return Path(found).absolute()
    raise LaunchError(
        "no MPI launcher: looked for FAIRLEAD_MPIRUN, then mpirun and mpiexec on PATH; install "
        "one (Debian, Ubuntu: openmpi-bin or mpich), or name it by --mpirun"
    )


def _banner(path: Path, timeout_s: float) -> str:
    answer = run([str(path), "--version"], capture=True, timeout_s=timeout_s)
    return answer.stdout + answer.stderr
