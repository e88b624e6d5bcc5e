# SPDX-License-Identifier: Apache-2.0
"""Binary interfaces of MPI libraries: what is built for one works with all MPIs that have it."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = [
    "MPICH_ABI",
    "STANDARD_LIBRARY",
    "find_standard_abi",
    "folder_with",
    "is_standard",
    "library_folder",
    "mpich_abi",
    "named_abi",
]

# MPICH 3.1 to 5.0, Intel MPI, MVAPICH and Cray MPICH have agreed on one interface and one name of
# the library (the MPICH ABI Compatibility Initiative of 2013). Debian's MPICH has the interface
# under a name of its own.
_LIBRARIES = ("libmpi.so.12", "libmpich.so.12")

MPICH_ABI = f"mpich-{_LIBRARIES[0]}"
"""As a part's mpi.json names it: the family, and the name (soname) of the library."""

STANDARD_LIBRARY = "libmpi_abi.so.1"
"""The library of the interface that MPI 5.0 itself defines (chapter 20): MPICH 5.0.2 and Intel MPI
2021.18 have it next to their own. In MPICH 5.0.0 and 5.0.1 its name ends with 0."""

_STANDARD = re.compile(r"^\s*(libmpi_abi\.so\.\d+) =>", re.MULTILINE)

# Intel MPI's, Debian's and Fedora's among them.
_FOLDERS = ("lib/release", "lib", "lib64", "lib/*-linux-gnu")


def mpich_abi(launcher: Path) -> str:
    """The interface of the MPICH that a launcher belongs to, by the libraries next to it."""
    names = (name for name in _LIBRARIES if folder_with(launcher, name))
    return f"mpich-{next(names, _LIBRARIES[0])}"


def named_abi(library: str) -> str:
    """The interface of a library of this name, of MPICH's family or of MPI 5 itself."""
    return f"{'standard' if library.startswith('libmpi_abi.') else 'mpich'}-{library}"


def is_standard(abi: str) -> bool:
    """Whether it is the interface of MPI 5 itself."""
    return abi.startswith("standard-")


def find_standard_abi(listed: str) -> str | None:
    """The interface of MPI 5, where a program needs it; else None.

    Args:
        listed: What ldd(1) prints for the program.
    """
    found = _STANDARD.search(listed)
    return named_abi(found[1]) if found else None


def library_folder(launcher: Path, abi: str) -> Path | None:
    """The folder with the MPI library next to a launcher; None where there is none."""
    return folder_with(launcher, abi.partition("-")[2])


def folder_with(launcher: Path, name: str) -> Path | None:
    """The folder next to a launcher's that has a library of this name; None where none has."""
    for path in (launcher, launcher.resolve()):
        for pattern in _FOLDERS:
            for library in sorted(path.parent.parent.glob(f"{pattern}/{name}")):
                return library.parent
    return None
