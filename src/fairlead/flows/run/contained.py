# SPDX-License-Identifier: Apache-2.0
"""A program in a container gets the library and the plan of its run into that container."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fairlead.act import mpi_builds
from fairlead.act.containers import Entry, container_of, find_entry
from fairlead.act.launch import LaunchSpec
from fairlead.errors import Error
from fairlead.flows.inputs.session import Session

__all__ = ["Reached", "reach_inside"]

_PATHS = ("FAIRLEAD_PLAN", "FAIRLEAD_RECORD", "FAIRLEAD_TRACE", "FAIRLEAD_SHARES")


class Reached(NamedTuple):
    """How the program is started.

    Attributes:
        spec: The start.
        has_library: Whether features that act by the library are in it, where any is.
    """

    spec: LaunchSpec
    has_library: bool = True


def reach_inside(
    session: Session, spec: LaunchSpec, enter: Callable[..., Entry] = find_entry
) -> Reached:
    """The start with library and plan where the program is; they are in the folder of the run.

    Args:
        session: The inputs of the run; its user gets a line where nothing gets in.
        spec: The start as for a program outside.
        enter: As `find_entry`.

    Returns:
        The same start where the program is in no container, or needs no library.
    """
    paths = {name: Path(spec.env[name]) for name in _PATHS if name in spec.env}
    if container_of(spec.program) is None or not paths:
        return Reached(spec)
    others = {name: value for name, value in spec.env.items() if name not in (*paths, "LD_PRELOAD")}
    bare = dataclasses.replace(spec, env=others)
    folder = session.directory.path.absolute()
    try:
        build = mpi_builds.find(session.launcher)
        # Where ranks are placed, and by which file, does not matter to one process.
        alone = dataclasses.replace(bare, placement=None, cpus=None)
        entry = enter(session.launcher, alone, folder, build)
        return Reached(entry.preload(bare, [entry.build.intercept], paths))
    except Error as error:
        if _PATHS[0] in paths:
            session.narrator.report(f"the program inside is only placed: {error}")
        return Reached(bare, has_library=False)
