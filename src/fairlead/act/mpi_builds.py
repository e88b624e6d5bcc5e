# SPDX-License-Identifier: Apache-2.0
"""Finds what was built for one MPI: the probe program, the preload library, the examples."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pydantic

from fairlead.act.launch import Launcher, SchedulerLauncher
from fairlead.act.launch.mpi_library import is_standard, library_folder
from fairlead.errors import InputError, LaunchError
from fairlead.files.base_folders import base_folder
from fairlead.files.json_files import read_json
from fairlead.files.package_folders import found_in_package, mpi_sources_digest

__all__ = [
    "MpiBuild",
    "build_folders",
    "find",
    "library_path",
    "list_builds",
    "mpi_title",
    "read_build",
    "user_folder",
]


@dataclasses.dataclass(frozen=True)
class MpiBuild:
    """Programs and libraries of Fairlead, built for one MPI.

    Attributes:
        root: The folder they are in.
        abi: Binary interface of the MPI library: "openmpi-5"; "mpich-libmpi.so.12", which MPICH,
            Intel MPI and others share; "standard-libmpi_abi.so.1" (MPI 5's own); "smpi-3" (SimGrid,
            where `lib` has an object to link).
        family: Family of the MPI they were built with: "openmpi", "mpich", "intel" or "smpi"; or
            "standard".
        version: Version of the MPI they were built with.
        wrapper: The compiler wrapper they were built with.
        sources_digest: Digest of the sources that `fairlead mpi add` built; else empty.
    """

    root: Path
    abi: str
    family: str
    version: tuple[int, ...]
    wrapper: Path
    sources_digest: str = ""

    @property
    def probe(self) -> Path:
        """The probe program."""
        return self.root / "bin" / "fairlead-probe"

    @property
    def tune(self) -> Path:
        """The program that times collectives."""
        return self.root / "bin" / "fairlead-tune"

    @property
    def intercept(self) -> Path:
        """The preload library."""
        return self.root / "lib" / "libfairlead_intercept.so"

    def is_current(self) -> bool:
        """Whether it is of this version's sources."""
        return self.sources_digest in ("", mpi_sources_digest())

    def example(self, name: str) -> Path:
        """An example program, for example "cg".

        Raises:
            InputError: There is no such example.
        """
        path = self.root / "examples" / name
        if not path.is_file():
            there = sorted(file.name for file in path.parent.glob("*")) or ["none"]
            raise InputError(f"no example {name!r}; there are: {', '.join(there)}")
        return path


def find(launcher: Launcher, folders: Iterable[Path] | None = None) -> MpiBuild:
    """The build for the MPI of this launcher: of the same binary interface.

    Args:
        launcher: The launcher of the MPI.
        folders: Where builds are; None for `build_folders()`.

    Raises:
        LaunchError: There is none, or it is of another version of Fairlead; the message says how to
            build it.
    """
    builds = list_builds(folders)
    for build in builds:
        if build.abi == launcher.abi:
            if not build.is_current():
                raise LaunchError(
                    f"{build.root} was built by another version of Fairlead; build it again: "
                    f"{_add_command(build.wrapper)}"
                )
            return build
    there = ", ".join(mpi_title(build.family, build.version) for build in builds) or "nothing"
    wrapper = _wrapper_next_to(launcher.path, launcher.abi)
    library = f"{launcher.abi.partition('-')[2]} of " if is_standard(launcher.abi) else ""
    raise LaunchError(
        f"Fairlead is not built for {library}{mpi_title(launcher.family, launcher.version)} "
        f"({launcher.path}), only for: {there}; build it by: {_add_command(wrapper)}"
    )


def library_path(launcher: Launcher) -> dict[str, str]:
    """The variable by which Fairlead's MPI programs load the launcher's own MPI library.

    They may be built with another MPI of the same interface, whose library they load without it.
    """
    if isinstance(launcher, SchedulerLauncher):
        folder = launcher.library_folder
    else:
        folder = library_folder(launcher.path, launcher.abi)
    # What is in the system's own folders is found anyhow, and other libraries with it.
    if folder is None or folder.is_relative_to("/usr/lib") or folder.is_relative_to("/usr/lib64"):
        return {}
    others = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{folder}:{others}" if others else str(folder)}


def list_builds(folders: Iterable[Path] | None = None) -> list[MpiBuild]:
    """All builds in these folders; where two are for the same MPI, the first is used."""
    searched = build_folders() if folders is None else folders
    files = (path for folder in searched for path in sorted(folder.glob("*/mpi.json")))
    return [read_build(path) for path in files]


def user_folder() -> Path:
    """Where `fairlead mpi add` puts what it builds."""
    return base_folder("XDG_DATA_HOME", ".local/share") / "fairlead" / "mpi"


def environment_folder() -> Path:
    """What was built for an MPI of this Python environment: it goes with the environment."""
    return Path(sys.prefix) / "share" / "fairlead" / "mpi"


def build_folders(packaged: Iterable[Path] | None = None) -> list[Path]:
    """Where builds are looked for, in this order.

    The folder named by FAIRLEAD_MPI_BUILDS comes first, then what `fairlead mpi add` built for
    this user, then the Python environment's own (for an MPI that is a wheel in it), then
    `packaged`: by default what was installed with the package.
    """
    chosen = os.environ.get("FAIRLEAD_MPI_BUILDS")
    installed = found_in_package("_mpi") if packaged is None else packaged
    return [*([Path(chosen)] if chosen else []), user_folder(), environment_folder(), *installed]


def read_build(path: Path) -> MpiBuild:
    """Read the mpi.json of one build."""
    try:
        record = read_json(path, _Record)
    except InputError as error:
        raise LaunchError(f"{error}; remove {path.parent} and build it again") from error
    version = tuple(int(part) for part in re.findall(r"\d+", record.version))
    # Parts of earlier versions have no interface in their record; they are to be built again.
    abi = record.abi or f"{record.family}-{version[0] if version else 0}"
    return MpiBuild(
        path.parent, abi, record.family, version, Path(record.wrapper), record.sources_digest
    )


class _Record(pydantic.BaseModel):
    family: str
    version: str
    wrapper: str
    abi: str = ""
    sources_digest: str = ""


def _add_command(wrapper: Path) -> str:
    return f"fairlead mpi add --mpicxx {shlex.quote(str(wrapper))}"


def _wrapper_next_to(mpirun: Path, abi: str) -> Path:
    """The compiler wrapper that most likely belongs to this launcher, for this interface."""
    suffix = "".join(part for part in (".openmpi", ".mpich") if mpirun.name.endswith(part))
    if is_standard(abi):
        suffix = "_abi"
    neighbour = mpirun.with_name(f"mpicxx{suffix}")
    if neighbour.is_file():
        return neighbour
    # Another wrapper would build for another interface.
    found = shutil.which(f"mpicxx{suffix}") or (
        None if is_standard(abi) else shutil.which("mpicxx")
    )
    return Path(found) if found else neighbour


def mpi_title(family: str, version: tuple[int, ...]) -> str:
    """An MPI's name and version, for example "Open MPI 4.1.4"."""
    names = {
        "openmpi": "Open MPI",
        "mpich": "MPICH",
        "intel": "Intel MPI",
        "smpi": "SMPI",
        "standard": "MPI ABI",
    }
    return f"{names.get(family, family)} {'.'.join(str(part) for part in version)}"
