# SPDX-License-Identifier: Apache-2.0
"""The interface of an MPI's tuning file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class NativeRule(NamedTuple):
    """Calls for which the MPI takes one of its own algorithms.

    Attributes:
        operation: The operation.
        algorithm: Name in `TuningFile.algorithms`.
        min_bytes, max_bytes: Sizes for which it holds, both included: the whole vector of bcast,
            reduce and allreduce, one rank's block of the others.
    """

    operation: str
    algorithm: str
    min_bytes: int
    max_bytes: int


class TuningFile(Protocol):
    """One MPI's tuning file."""

    @property
    def name(self) -> str:
        """Name on the command line."""
        ...

    @property
    def family(self) -> str:
        """Family of the launchers whose MPI reads it."""
        ...

    @property
    def file_name(self) -> str:
        """Name of the file."""
        ...

    @property
    def hosts_format(self) -> str:
        """Format of a placement that the launcher reads, in `fairlead.act.launch.formats`."""
        ...

    @property
    def measuring_env(self) -> Mapping[str, str]:
        """Variables under which algorithms can be chosen while a program runs."""
        ...

    def algorithms(self, operation: str, num_ranks: int, message_bytes: int) -> Sequence[str]:
        """Algorithms of the operation that work on so many ranks; none where it has no choice."""
        ...

    def settings(self, operation: str, algorithm: str) -> dict[str, str]:
        """Control variables that choose the algorithm, and their values."""
        ...

    def render(self, rules: Sequence[NativeRule], num_ranks: int, library: Path) -> str:
        """The file.

        Args:
            rules: Without overlap; calls that none covers stay as the MPI decides.
            num_ranks: For communicators of so many ranks, where the MPI can distinguish them.
            library: A program or library that is linked with the MPI's own.

        Raises:
            InputError: The MPI's own decisions, which the file must repeat, are not found.
        """
        ...

    def usage(self, file: str, hosts: str, num_ranks: int) -> str:
        """How to start a program with it."""
        ...
