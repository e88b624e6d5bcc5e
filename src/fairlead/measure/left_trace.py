# SPDX-License-Identifier: Apache-2.0
"""What a traced run leaves: the file that rank 0 gathers, or the shares of the ranks."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

from fairlead.act.launch import LaunchSpec
from fairlead.errors import InputError, NoTraceError
from fairlead.measure.trace_file import read_trace
from fairlead.measure.trace_shares import are_shares, read_shares
from fairlead.model.traffic import Traffic

__all__ = ["LeftTrace", "folder_of_shares"]


@contextlib.contextmanager
def folder_of_shares(folder: Path) -> Iterator[Path]:
    """The folder, made; it is removed with its shares, but not when this process is killed."""
    folder = folder.absolute()
    with contextlib.suppress(OSError):  # The library says on which hosts it cannot be written to.
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclasses.dataclass(frozen=True)
class LeftTrace:
    """What a traced run has left.

    Attributes:
        file: What rank 0 gathers in MPI_Finalize; it may be missing.
        shares: Folder of the ranks' shares.
        spec: What was started.
        origin: Facts about the run.
    """

    file: Path
    shares: Path
    spec: LaunchSpec
    origin: dict[str, object]

    def is_there(self) -> bool:
        """Whether it is anything."""
        return self.file.exists() or are_shares(self.shares)

    def traffic(self) -> Traffic:
        """The traffic, from the shares where it was not gathered.

        Raises:
            NoTraceError: It cannot be used.
        """
        name = self.spec.program[0]
        try:
            traffic = read_trace(self.file) if self.file.exists() else read_shares(self.shares)
        except InputError as error:
            raise NoTraceError(f"{name}: the traced run left an unusable trace: {error}") from error
        if traffic.num_ranks != self.spec.num_ranks:
            raise NoTraceError(
                f"{name}: {self.spec.num_ranks} ranks were started, but MPI_COMM_WORLD had "
                f"{traffic.num_ranks}: the program belongs to another MPI than the launcher"
            )
        return dataclasses.replace(traffic, origin=traffic.origin | self.origin)

    def traffic_or_none(self) -> Traffic | None:
        """The traffic of a run that did not end well, if it left any."""
        try:
            return self.traffic() if self.is_there() else None
        except NoTraceError:
            return None
