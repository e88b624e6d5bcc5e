# SPDX-License-Identifier: Apache-2.0
"""How the preload library gets to a program: directly, or into the container that it runs in."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from fairlead.act import mpi_builds
from fairlead.act.containers.catalogue import container_of
from fairlead.act.containers.container import Bind, Container
from fairlead.act.containers.inside import look_inside
from fairlead.act.launch import Launcher, LaunchSpec
from fairlead.act.mpi_builds import MpiBuild
from fairlead.act.preload import preload_variables
from fairlead.errors import LaunchError
from fairlead.files.scratch import scratch_folder

__all__ = ["DirectEntry", "Entry", "NoEntryError", "find_entry"]


class NoEntryError(LaunchError):
    """The library cannot be loaded in the container; the program runs there without it."""


class Entry(Protocol):
    """How libraries of ours get to a program."""

    @property
    def build(self) -> MpiBuild:
        """The part for the MPI that the program loads."""
        ...

    def preload(
        self, spec: LaunchSpec, libraries: Sequence[Path], paths: Mapping[str, Path]
    ) -> LaunchSpec:
        """The start with libraries loaded first, in this order.

        Args:
            spec: The start without.
            libraries: Libraries of this package, in the order of LD_PRELOAD.
            paths: Variables that name files or folders, by their paths on the host.

        Raises:
            LaunchError: The loader does not accept the path of a library.
        """
        ...


@dataclasses.dataclass(frozen=True)
class DirectEntry:
    """For a program that the launcher starts itself.

    Attributes:
        build: The part for the launcher's MPI.
    """

    build: MpiBuild

    def preload(
        self, spec: LaunchSpec, libraries: Sequence[Path], paths: Mapping[str, Path]
    ) -> LaunchSpec:
        """By variables alone."""
        env = {**spec.env, **{name: str(path) for name, path in paths.items()}}
        for library in reversed(libraries):
            env = preload_variables(env, library)
        return dataclasses.replace(spec, env=env)


@dataclasses.dataclass(frozen=True)
class ContainerEntry:
    """For a program in a container, by copies in a folder that is visible inside.

    Attributes:
        build: The part for the MPI inside.
        container: What the launcher starts.
        bind: How the folder gets in.
    """

    build: MpiBuild
    container: Container
    bind: Bind

    def preload(
        self, spec: LaunchSpec, libraries: Sequence[Path], paths: Mapping[str, Path]
    ) -> LaunchSpec:
        """By the runtime's options; the runtime itself loads nothing of ours."""
        copies = [_copy_of(library, self.bind.source) for library in libraries]
        loaded = [str(self.bind.inside(copy)) for copy in copies]
        others = spec.env.get("LD_PRELOAD", os.environ.get("LD_PRELOAD", ""))
        variables = {name: str(self.bind.inside(path)) for name, path in paths.items()}
        variables["LD_PRELOAD"] = ":".join([*loaded, *([others] if others else [])])
        started = self.container.start(self.bind, None, variables)
        return dataclasses.replace(spec, program=started.program, env={**spec.env, **started.env})


def find_entry(
    launcher: Launcher,
    spec: LaunchSpec,
    folder: Path,
    build: MpiBuild,
    libraries: Sequence[Path] = (),
) -> Entry:
    """How our libraries get to the program of a spec.

    Args:
        launcher: The user's launcher.
        spec: How the program is started.
        folder: A folder of ours that all hosts share. Where the program is in a container, the
            libraries are copied to it.
        build: The part for the launcher's MPI.
        libraries: Libraries without MPI that are loaded too.

    Raises:
        NoEntryError: They do not get in, or do not load there; the message says why.
    """
    container = container_of(spec.program)
    if container is None:
        return DirectEntry(build)
    builds = _usable_builds(build)
    tried = [*libraries, *(one.intercept for one in builds.values())]
    why = ""
    for bind in container.binds(folder):
        copies = {bind.inside(_copy_of(library, folder)): library for library in tried}
        try:
            with scratch_folder("fairlead-inside-") as work_dir:
                inside = look_inside(
                    launcher, spec, container, bind, libraries=[*copies], work_dir=work_dir
                )
        except LaunchError as error:
            why = str(error)
            continue
        if inside.sees_folder:
            lacks = {library: inside.lacks[copy] for copy, library in copies.items()}
            part = _part_for(inside.abi, builds)
            _require_loaded(part, [*libraries, part.intercept], lacks)
            return ContainerEntry(part, container, bind)
        why = "the folder of this run is not visible inside"
    raise NoEntryError(why)


def _usable_builds(launchers: MpiBuild) -> dict[str, MpiBuild]:
    """A part for each MPI; that for the launcher's is given."""
    builds: dict[str, MpiBuild] = {}
    for one in (launchers, *mpi_builds.list_builds()):
        if one.is_current() and one.intercept.is_file():
            builds.setdefault(one.abi, one)
    return builds


def _part_for(abi: str | None, builds: Mapping[str, MpiBuild]) -> MpiBuild:
    """The part for the MPI inside.

    Raises:
        NoEntryError: There is none.
    """
    if abi is None:
        raise NoEntryError("which MPI the program inside loads is not known")
    if abi not in builds:
        raise NoEntryError(f"the MPI inside is {abi}; Fairlead is built for {', '.join(builds)}")
    return builds[abi]


def _require_loaded(part: MpiBuild, libraries: Sequence[Path], lacks: Mapping[Path, str]) -> None:
    """Check that the image's loader loads these libraries.

    Raises:
        NoEntryError: It does not load one.
    """
    for library in libraries:
        if lacks[library]:
            title = mpi_builds.mpi_title(part.family, part.version)
            raise NoEntryError(f"the library for {title} does not load inside: {lacks[library]}")


def _copy_of(library: Path, folder: Path) -> Path:
    """The library's copy in a folder that gets into the container."""
    digest = hashlib.sha256(os.fsencode(library)).hexdigest()[:8]
    copy = folder / f"{digest}-{library.name}"
    if not copy.exists():
        shutil.copyfile(library, copy)
        copy.chmod(0o755)
    return copy
