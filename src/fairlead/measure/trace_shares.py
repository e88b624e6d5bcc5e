# SPDX-License-Identifier: Apache-2.0
"""Reading what each rank of a traced program leaves of the trace, a file of its own.

Format (docs/design/trace-files.md): as the file of all ranks, with one row of ranks.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pydantic

from fairlead.errors import InputError
from fairlead.measure.trace_file import (
    MOST_HEADER_BYTES,
    Table,
    TraceHeader,
    read_header,
    read_tables,
    traffic_of_tables,
)
from fairlead.model.coverage import Coverage
from fairlead.model.traffic import Traffic

__all__ = ["are_shares", "read_shares"]

MOST_RANKS = 1_000_000
"""Ranks of the largest job that is read: a larger number is an error in the file."""

_NAME = re.compile(r"rank-(\d{1,7})\.share", re.ASCII)
_START = b'{"format":"fairlead-share"'
_LAST = "finalize"


class _ShareHeader(TraceHeader):
    """The first line of a rank's share."""

    format: Literal["fairlead-share"]
    version: Literal[1, 2]
    rank: Annotated[int, pydantic.Field(ge=0)]
    num_ranks: Annotated[int, pydantic.Field(ge=1, le=MOST_RANKS)]
    number: Annotated[int, pydantic.Field(ge=1)]
    occasion: Literal["interval", "signal", "abort", "exit", "finalize"]


@dataclasses.dataclass(frozen=True)
class _Share:
    """One rank's share.

    Attributes:
        file: Where it is.
        header: What its first line says.
        tables: Its rows.
    """

    file: Path
    header: _ShareHeader
    tables: dict[str, Table]

    @property
    def covers_s(self) -> float:
        """Time from the end of MPI_Init to its writing."""
        return float(self.tables["ranks"]["run_time_s"][0])


def are_shares(folder: Path) -> bool:
    """Whether this is a folder in which ranks have left shares."""
    return bool(_files(folder))


def read_shares(folder: Path) -> Traffic:
    """Read the shares of all ranks in a folder.

    A rank without a share, or with one that is cut off, is missing. Where one is, or one was not
    written in MPI_Finalize, the traffic is partial, and its `origin` has what it covers
    (`fairlead.model.coverage`).

    Returns:
        The traffic in world ranks.

    Raises:
        InputError: There is no share, one is of another kind, version or program, or holds an
            impossible value; the message names file and field.
    """
    shares = [share for file in _files(folder) if (share := _read(file)) is not None]
    if not shares:
        raise InputError(f"{folder}: no rank has left a share of the trace here")
    _require_one_program(shares)
    num_ranks = shares[0].header.num_ranks
    try:
        traffic = traffic_of_tables(shares[0].header, _join(shares), num_ranks)
    except (ValueError, InputError) as error:
        raise InputError(f"{folder}: {error}") from error
    coverage = _coverage(shares, num_ranks)
    if coverage is None:
        return traffic
    return dataclasses.replace(traffic, origin=traffic.origin | {"partial": coverage.facts()})


def _files(folder: Path) -> list[Path]:
    """The shares of a folder, in the order of ranks; what is being written has another name."""
    try:
        found = [
            (match, path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))
        ]
    except OSError:
        return []
    return [path for _, path in sorted((int(match[1]), path) for match, path in found)]


def _read(file: Path) -> _Share | None:
    """One share; None where it is cut off, as by the crash of a host."""
    try:
        with file.open("rb") as stream:
            if _is_cut_off(stream.readline(MOST_HEADER_BYTES)):
                return None
            stream.seek(0)
            header = read_header(stream, "share", _ShareHeader)
            try:
                share = _Share(file, header, read_tables(stream, header))
            except ValueError:
                return None
        _check(share)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{file}: {error}") from error
    return share


def _is_cut_off(line: bytes) -> bool:
    """Whether the file ends within the first line of a share."""
    return not line.endswith(b"\n") and line[: len(_START)] == _START[: len(line)]


def _check(share: _Share) -> None:
    """Refuse a share that is not the one of its rank.

    Raises:
        ValueError: It has rows of another.
    """
    rank = share.header.rank
    match = _NAME.fullmatch(share.file.name)
    if match is None or int(match[1]) != rank or rank >= share.header.num_ranks:
        raise ValueError(f"rank: {rank} of {share.header.num_ranks} is not the one of its name")
    if len(share.tables["ranks"]) != 1:
        raise ValueError(f"num_rows.ranks: expected 1, got {len(share.tables['ranks'])}")
    for name, end in (("sent", "src"), ("exchanged", "src"), ("fetched", "dst")):
        if np.any(share.tables[name][end] != rank):
            raise ValueError(f"{name}: {end}: has rows of another rank than {rank}")


def _require_one_program(shares: Sequence[_Share]) -> None:
    first = shares[0]
    for share in shares[1:]:
        for field in ("num_ranks", "mpi", "operations", "byte_order"):
            one, other = getattr(first.header, field), getattr(share.header, field)
            if one != other:
                shown = f": {other!r}, but {one!r} in {first.file}" if field != "operations" else ""
                raise InputError(
                    f"{share.file}: {field}: is of another program than the other shares{shown}"
                )


def _join(shares: Sequence[_Share]) -> dict[str, Any]:
    """The tables of all, one after the other: so their rows ascend by rank."""
    return {
        name: np.concatenate([share.tables[name] for share in shares]) for name in shares[0].tables
    }


def _coverage(shares: Sequence[_Share], num_ranks: int) -> Coverage | None:
    """What the shares cover; None of all ranks to the end."""
    there = {share.header.rank for share in shares}
    missing = tuple(rank for rank in range(num_ranks) if rank not in there)
    if not missing and all(share.header.occasion == _LAST for share in shares):
        return None
    covered_s = [share.covers_s for share in shares]
    return Coverage(num_ranks, missing, min(covered_s), max(covered_s))
