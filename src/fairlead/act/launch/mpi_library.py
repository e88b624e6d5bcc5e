# SPDX-License-Identifier: Apache-2.0
"""Binary interfaces of MPI libraries: what is built for one works with all MPIs that have it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["MPICH_ABI", "library_folder", "mpich_abi"]

# MPICH 3.1 to 5.0, Intel MPI, MVAPICH and Cray MPICH have agreed on one interface and one name of
# the library (the MPICH ABI Compatibility Initiative of 2013). Debian's MPICH has the interface
# under a name of its own.
_LIBRARIES = ("libmpi.so.12", "libmpich.so.12")

MPICH_ABI = f"mpich-{_LIBRARIES[0]}"
"""As a part's mpi.json names it: the family, and the name (soname) of the library."""

# Intel MPI's, Debian's and Fedora's among them.
_FOLDERS = ("lib/release", "lib", "lib64", "lib/*-linux-gnu")


def mpich_abi(launcher: Path) -> str:
    """The interface of the MPICH that a launcher belongs to, by the libraries next to it."""
    names = (name for name in _LIBRARIES if _folder_with(launcher, name))
    return f"mpich-{next(names, _LIBRARIES[0])}"


def library_folder(launcher: Path, abi: str) -> Path | None:
    """The folder with the MPI library next to a launcher; None where there is none."""
    return _folder_with(launcher, abi.removeprefix("mpich-"))


def _folder_with(launcher: Path, name: str) -> Path | None:
    for path in (launcher, launcher.resolve()):
        for pattern in _FOLDERS:
            for library in sorted(path.parent.parent.glob(f"{pattern}/{name}")):
                return library.parent
    return None
