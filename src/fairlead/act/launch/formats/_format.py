# SPDX-License-Identifier: Apache-2.0
"""The interface of a file format for placements."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from fairlead.errors import InputError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement


@dataclasses.dataclass(frozen=True)
class Cores:
    """Cores to bind ranks to, for the formats that name cores.

    Attributes:
        per_host: Cores of each host; None assumes as many cores as slots.
        of_rank: Socket and core of each rank, length T; binds each rank to that core alone.
        lists: Cores of each rank by their numbers in hwloc's order, such as "4-7", length T.
    """

    per_host: int | None = None
    of_rank: Sequence[tuple[int, int]] | None = None
    lists: Sequence[str] | None = None


@dataclasses.dataclass(frozen=True)
class Format:
    """One file format.

    Attributes:
        name: Its name on the command line.
        summary: One line about it.
        render: The file's text for a placement that fits the cluster.
        parse: Host of each rank from such a text; raises InputError without the file's name.
        usage: Instructions for starting N ranks from the file: (path, num_ranks) -> text.
        binds: Whether the format names cores.
        takes_lists: Whether it names the cores of each rank by `Cores.lists`.
        cpu_usage: As `usage`, for launchers with an option for the CPUs of the first, second, ...
            rank of every host: (path, placement, CPU lists) -> text.
    """

    name: str
    summary: str
    render: Callable[[Placement, Cluster, Cores], str]
    parse: Callable[[str, Cluster], list[str]]
    usage: Callable[[str, int], str]
    binds: bool = False
    takes_lists: bool = False
    cpu_usage: Callable[[str, Placement, Sequence[str]], str] | None = None


def lines_of(text: str) -> list[tuple[int, str]]:
    """Number and text of each line that is neither empty nor a comment."""
    stripped = [line.split("#", 1)[0].strip() for line in text.split("\n")]
    return [(number, line) for number, line in enumerate(stripped, start=1) if line]


def join(lines: Sequence[str]) -> str:
    """Lines as the text of a file."""
    return "".join(f"{line}\n" for line in lines)


def bad_line(number: int, line: str, expected: str) -> InputError:
    """An error about one line of a file."""
    return InputError(f"{number}: unknown form {line!r}; expected {expected}")
