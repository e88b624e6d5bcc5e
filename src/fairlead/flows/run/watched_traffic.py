# SPDX-License-Identifier: Apache-2.0
"""Every run is traced: what a run sends is seen whether or not it was started for that."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path

from fairlead.act import mpi_builds
from fairlead.act.containers import container_of
from fairlead.act.launch import Finished, LaunchSpec
from fairlead.act.preload import preload_variables
from fairlead.errors import Error
from fairlead.files.run_directory import SHARES, TRACE
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import covers_enough
from fairlead.flows.inputs.tracing import TRACE_NOW
from fairlead.flows.run.features import with_variables
from fairlead.measure.left_trace import LeftTrace, folder_of_shares
from fairlead.measure.trace import origin_of
from fairlead.model.traffic import Traffic

__all__ = ["WatchedTraffic", "watch_traffic"]

MOST_TRACE_BYTES = 1 << 25
"""Largest trace that is read where the traffic is known: some 0.3 s."""


MOST_SHARES = 1000
"""Ranks that leave a file each where the traffic is known; more would slow a file system down."""


@dataclasses.dataclass(frozen=True)
class WatchedTraffic:
    """The trace that a run leaves in its own folder.

    Attributes:
        spec: How the program is started; with the library, or without where it is not watched.
        left: What it leaves; None where it is not watched.
        is_needed: Whether the traffic is only guessed, or known in part.
    """

    spec: LaunchSpec
    left: LeftTrace | None = None
    is_needed: bool = False

    def read(self, finished: Finished) -> Traffic | None:
        """What the run has sent; None where that was not seen, or says nothing new.

        Of a run that did not end well the traffic is used as that of a traced one would be.
        """
        left = self.left
        if left is None:
            return None
        has_ended_well = finished.returncode == 0 and finished.signal is None
        try:
            if not self.is_needed and (not has_ended_well or _size(left.file) > MOST_TRACE_BYTES):
                return None
            seen = dataclasses.replace(
                left, origin=left.origin | {"seconds": finished.seconds}
            ).traffic_or_none()
        except OSError:
            return None
        return seen if seen is not None and covers_enough(seen) else None


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


@contextlib.contextmanager
def watch_traffic(session: Session, spec: LaunchSpec) -> Iterator[WatchedTraffic]:
    """The start of a program whose traffic is watched, and its trace until the end of the block.

    Not watched is a program whose traffic the user has given, and one that is known to leave no
    trace. Nor is one whose traffic is known, where that would cost something: in a container
    without a plan finding a way in costs a start, and many ranks without a name service write a
    file each.
    """
    program = session.program
    is_needed = program.guess is not None or program.is_partial
    library = _library(session) if _is_watched(session, spec, is_needed=is_needed) else None
    if library is None:
        yield WatchedTraffic(spec)
        return
    file, shares = (session.directory.file(name).absolute() for name in (TRACE, SHARES))
    variables = {"FAIRLEAD_TRACE": str(file)}
    # Where the traffic is known, what a killed run has left is not needed; but without a name
    # service the ranks gather nothing.
    has_shares = is_needed or not session.launcher.has_name_service
    if has_shares:
        variables["FAIRLEAD_SHARES"] = str(shares)
    started = with_variables(spec, variables)
    if "FAIRLEAD_PLAN" not in spec.env:
        started = dataclasses.replace(started, env=preload_variables(started.env, library))
    left = LeftTrace(file, shares, spec, origin_of(session.launcher, spec))
    with folder_of_shares(shares) if has_shares else contextlib.nullcontext():
        try:
            yield WatchedTraffic(started, left, is_needed)
        finally:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)


def _library(session: Session) -> Path | None:
    """The library for the program's MPI; None where there is none that it can load."""
    try:
        build = mpi_builds.find(session.launcher)
        preload_variables({}, build.intercept)
    except Error:
        return None
    return build.intercept


def _is_watched(session: Session, spec: LaunchSpec, *, is_needed: bool) -> bool:
    if session.request.traffic not in (None, TRACE_NOW) or not session.program.has_trace:
        return False
    has_many_files = (
        not session.launcher.has_name_service and session.request.num_ranks > MOST_SHARES
    )
    if has_many_files and not is_needed:
        return False
    return container_of(spec.program) is None or "FAIRLEAD_PLAN" in spec.env or is_needed
