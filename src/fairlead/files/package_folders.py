# SPDX-License-Identifier: Apache-2.0
"""Where the package's own files are: data, programs and libraries built with it, sources.

An editable installation keeps built files outside of the sources, and the package's path names both
folders. Only this module deals with that.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import fairlead

__all__ = ["data_folder", "found_in_package", "mpi_sources", "mpi_sources_digest"]


def found_in_package(name: str) -> list[Path]:
    """The files or folders of this name in the folders of the package; there may be none.

    Args:
        name: Relative to the package, for example "_lab/fairlead-delay-line".
    """
    folders = (Path(folder) for folder in fairlead.__path__)
    return [folder / name for folder in folders if (folder / name).exists()]


def data_folder(name: str) -> Path:
    """A folder of data among the modules, for example "lab/scenarios"."""
    return Path(__file__).parents[1] / name


def mpi_sources() -> Path | None:
    """Sources of the MPI side: of a checkout, or the copy in the package; None without either."""
    # A checkout comes first, before the copy that an editable install made of it.
    checkouts = (Path(folder).parents[1] / "mpi" for folder in fairlead.__path__)
    folders = [*checkouts, *found_in_package("_mpi_src/mpi")]
    return next((each for each in folders if (each / "MpiIdentity.cmake").is_file()), None)


def mpi_sources_digest() -> str:
    """SHA-256 of the sources of the MPI side and of what it shares; empty without them."""
    sources = mpi_sources()
    if sources is None:
        return ""
    digest = hashlib.sha256()
    shared = ("core", "relay/wire", "relay/routing", "relay/endpoint")
    for part in (sources, *(sources.parent / folder for folder in shared)):
        for path in sorted(path for path in part.rglob("*") if path.is_file()):
            name = path.relative_to(sources.parent).as_posix().encode()
            digest.update(b"%b\0%d\0%b" % (name, path.stat().st_size, path.read_bytes()))
    return digest.hexdigest()
