# SPDX-License-Identifier: Apache-2.0
"""Which MPI a program is linked with: what its library says of itself.

A launcher of a scheduler, such as srun, belongs to no MPI.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fairlead.act.launch.mpi_library import (
    MPICH_ABI,
    STANDARD_LIBRARY,
    folder_with,
    named_abi,
)
from fairlead.act.linked_libraries import files_of_libraries, list_libraries

__all__ = ["ProgramMpi", "find_installed_mpi", "mpi_of_program"]

_NAMES = ("libmpi.so.40", MPICH_ABI.removeprefix("mpich-"), "libmpich.so.12", STANDARD_LIBRARY)
_ANSWER_S = 20.0

# MPI 4.1, section 9.1.1: "MPI_GET_LIBRARY_VERSION can be called at any time in an MPI program",
# also before MPI_INIT.
_ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode("utf-8", "replace"))
"""

# "Open MPI v4.1.4, package: ..."; "MPICH Version:      4.0.2"; "Intel(R) MPI Library 2021.18 for
# Linux* OS"; Cray's and MVAPICH's have MPICH's binary interface and names of their own.
_BANNERS = (
    ("openmpi", re.compile(r"Open MPI v(\d+)\.(\d+)\.(\d+)")),
    ("intel", re.compile(r"Intel\(R\) MPI Library (\d+)(?:\.(\d+))?(?:\.(\d+))?")),
    ("mpich", re.compile(r"(?:MPICH|MVAPICH2?)\s+[Vv]ersion\s*:?\s*(\d+)\.(\d+)(?:\.(\d+))?")),
)


class ProgramMpi(NamedTuple):
    """The MPI of a program.

    Attributes:
        family: "openmpi", "mpich" or "intel".
        version: Its version, for example (4, 1, 4); empty where it does not say.
        abi: Its binary interface, as of `Launcher.abi`.
        library: The file that the loader finds.
    """

    family: str
    version: tuple[int, ...]
    abi: str
    library: Path


def mpi_of_program(program: str) -> ProgramMpi | None:
    """The MPI library that the loader finds for a program; None for scripts and the like.

    Args:
        program: A name on PATH, or a path.
    """
    path = shutil.which(program)
    if path is None:
        return None
    files = files_of_libraries(list_libraries(path))
    name = next((name for name in files if name in _NAMES), None)
    return None if name is None else _mpi(name, str(files[name]))


def find_installed_mpi() -> ProgramMpi | None:
    """The MPI of this environment: that of the `mpirun` on PATH, or the one the loader finds."""
    for name, path in _candidates():
        if (found := _mpi(name, path)) is not None:
            return found
    return None


def _candidates() -> Iterator[tuple[str, str]]:
    """Names of MPI libraries, and where they may be."""
    for program in ("mpirun", "mpiexec"):
        if launcher := shutil.which(program):
            for name in _NAMES:
                if (folder := folder_with(Path(launcher).absolute(), name)) is not None:
                    yield name, str(folder / name)
    yield from ((name, name) for name in _NAMES)


def _mpi(name: str, library: str) -> ProgramMpi | None:
    banner = _banner(library)
    for family, pattern in _BANNERS:
        if found := pattern.search(banner):
            version = tuple(int(part) for part in found.groups() if part)
            abi = f"openmpi-{version[0]}" if family == "openmpi" else named_abi(name)
            return ProgramMpi(family, version, abi, Path(library))
    if banner and name != _NAMES[0]:  # Its name is MPICH's, and so is its binary interface.
        return ProgramMpi("mpich", (), named_abi(name), Path(library))
    return None


def _banner(library: str) -> str:
    """What the library says of itself; empty where it cannot be loaded."""
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _ASK, library],
            check=False, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_ANSWER_S, env=env,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode("utf-8", "replace")
