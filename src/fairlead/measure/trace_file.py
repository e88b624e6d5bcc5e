# SPDX-License-Identifier: Apache-2.0
"""Reading the file that the preload library writes at the end of a traced run.

Format (docs/design/trace-files.md): a line of JSON, and tables of rows of fixed size.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Annotated, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pydantic
import scipy.sparse as sp

from fairlead.errors import InputError
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.traffic import Traffic, Untraced

__all__ = ["TraceHeader", "read_header", "read_tables", "read_trace", "traffic_of_tables"]

Table = npt.NDArray[Any]

MOST_HEADER_BYTES = 2**20
MOST_CALLS = 2**53
"""Sums of fewer are exact; no program makes so many."""
LEAST_ROOT = -2
"""-1 stands for no root, -2 for several."""

_PAIR = [("src", "u4"), ("dst", "u4"), ("messages", "u8"), ("bytes", "u8"), ("max_bytes", "u8")]
_TABLES = {
    "ranks": [
        ("run_time_s", "f8"),
        ("untranslated_messages", "u8"),
        ("untranslated_bytes", "u8"),
        ("dropped_collective_calls", "u8"),
        ("shared_windows", "u8"),
        ("spawned_processes", "u8"),
    ],
    "sent": _PAIR,
    "fetched": _PAIR,
    "exchanged": _PAIR,
    "collectives": [
        ("communicator", "u8"),
        ("communicator_size", "u4"),
        ("operation", "u4"),
        ("root", "i8"),
        ("message_bytes", "u8"),
        ("calls", "u8"),
        ("seconds", "f8"),
    ],
    "communicators": [("id", "u8"), ("num_members", "u8")],
    "members": [("world_rank", "u4")],
    "computing": [("rank", "u4"), ("unused", "u4"), ("seconds", "f8"), ("host", "S64")],
}
Count = Annotated[int, pydantic.Field(ge=0)]


class _NumRows(pydantic.BaseModel, extra="forbid", strict=True):
    ranks: Annotated[int, pydantic.Field(ge=1)]
    sent: Count
    fetched: Count
    exchanged: Count
    collectives: Count
    communicators: Count
    members: Count
    computing: Count = 0
    """Earlier versions have none."""


class TraceHeader(pydantic.BaseModel, extra="forbid", strict=True):
    """What the first lines of a trace and of a rank's share have in common.

    Attributes:
        byte_order: Byte order of the tables.
        mpi: Name and version of the program's MPI.
        operations: Name of each collective's number.
        num_rows: Rows of each table, in their order.
    """

    byte_order: Literal["little", "big"]
    mpi: str
    operations: list[Annotated[str, pydantic.Field(pattern=r"^[a-z_0-9]+$")]]
    num_rows: _NumRows


class _FileHeader(TraceHeader):
    """The first line of the file of all ranks."""

    format: Literal["fairlead-trace"]
    version: Literal[3, 4]


Header = TypeVar("Header", bound=TraceHeader)


def read_trace(path: Path | str) -> Traffic:
    """Read the file of a traced run.

    Returns:
        The traffic in world ranks; its `origin` names the MPI.

    Raises:
        InputError: The file is missing, not whole, or holds an impossible value; the message
            names file and field.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            header = read_header(stream, "trace", _FileHeader)
            tables = read_tables(stream, header)
        missing = np.count_nonzero(np.isnan(tables["ranks"]["run_time_s"]))
        if missing:
            raise ValueError(f"not whole: {missing} of {len(tables['ranks'])} ranks are missing")
        return traffic_of_tables(header, tables, len(tables["ranks"]))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, InputError) as error:
        raise InputError(f"{path}: {error}") from error


def read_header(stream: IO[bytes], kind: str, model: type[Header]) -> Header:
    """The first line of a file.

    Args:
        stream: The file, at its beginning.
        kind: "trace" or "share".
        model: Checks the fields.

    Raises:
        ValueError: It is of another kind or version, or a field has no possible value.
    """
    line = stream.readline(MOST_HEADER_BYTES)
    if not line.startswith(f'{{"format":"fairlead-{kind}"'.encode()):
        raise ValueError(f"not a {kind} file")
    try:
        return model.model_validate(json.loads(line))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "header"
        raise ValueError(f"{field}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"header: is no JSON: {error}") from error


def read_tables(stream: IO[bytes], header: TraceHeader) -> dict[str, Table]:
    """The tables behind the header, by their names.

    Raises:
        ValueError: The file has not as many bytes as the header claims.
    """
    order = header.byte_order
    forms = {name: np.dtype(fields).newbyteorder(order) for name, fields in _TABLES.items()}
    num_rows: dict[str, int] = header.num_rows.model_dump()
    # Before any room is made: as many rows as the header claims, and no more, are in the file.
    num_bytes = sum(num_rows[name] * form.itemsize for name, form in forms.items())
    there = os.fstat(stream.fileno()).st_size - stream.tell()
    if there != num_bytes:
        raise ValueError(f"not whole: expected {num_bytes} bytes after the header, got {there}")
    return {name: _read_table(stream, form, num_rows[name]) for name, form in forms.items()}


def _read_table(stream: IO[bytes], form: np.dtype[Any], num_rows: int) -> Table:
    table = np.fromfile(stream, form, num_rows)
    if len(table) != num_rows:
        raise ValueError("not whole: it got shorter while it was read")
    return table


def traffic_of_tables(header: TraceHeader, tables: dict[str, Table], num_ranks: int) -> Traffic:
    """The traffic of these tables.

    Args:
        header: Names the MPI and the collectives.
        tables: By their names; that of ranks has no row of a rank that left nothing.
        num_ranks: Ranks of the program.

    Raises:
        ValueError: A row is impossible; the message names table, row and field.
    """
    ranks = tables["ranks"]
    _require("ranks", "run_time_s", ranks, _is_duration(ranks["run_time_s"]))
    sent, exchanged = (_matrices(name, tables[name], num_ranks) for name in ("sent", "exchanged"))
    sent = _with_fetched(sent, tables["fetched"], num_ranks)
    ids, communicators = _communicators(tables["communicators"], tables["members"], num_ranks)
    return Traffic(
        bytes=sent["bytes"],
        messages=sent["messages"],
        max_message_bytes=sent["max_bytes"],
        exchange_bytes=exchanged["bytes"],
        exchange_messages=exchanged["messages"],
        exchange_max_message_bytes=exchanged["max_bytes"],
        collectives=_calls(header.operations, tables["collectives"], ids, communicators),
        communicators=communicators,
        run_time_s=float(ranks["run_time_s"].max()),
        **_read_computing(tables["computing"], num_ranks),
        untraced=Untraced(
            messages=sum(ranks["untranslated_messages"].tolist()),
            bytes=sum(ranks["untranslated_bytes"].tolist()),
            collective_calls=sum(ranks["dropped_collective_calls"].tolist()),
            shared_windows=sum(ranks["shared_windows"].tolist()),
            spawned_processes=sum(ranks["spawned_processes"].tolist()),
        ),
        origin={"how": "traced", "mpi": header.mpi},
    )


def _read_computing(rows: Table, num_ranks: int) -> dict[str, Any]:
    """Computing times and hosts of the ranks; nothing unless each rank has one."""
    if not len(rows):
        return {}
    _require("computing", "rank", rows, rows["rank"] < num_ranks)
    seconds = rows["seconds"]
    _require("computing", "seconds", rows, np.isnan(seconds) | _is_duration(seconds))
    if not np.array_equal(rows["rank"], np.arange(num_ranks)):
        return {}
    hosts = [name.decode("utf-8", "replace") for name in rows["host"].tolist()]
    return {"compute_s": seconds.astype(np.float64), "compute_hosts": hosts}


def _require(table: str, field: str, rows: Table, is_right: npt.NDArray[np.bool_]) -> None:
    """Refuse a table with a wrong row, and name the first."""
    wrong = np.flatnonzero(~is_right)
    if wrong.size:
        row = rows[wrong[0]]
        raise ValueError(f"{table}: row {wrong[0]}: {field}: impossible value in {row}")


def _is_duration(seconds: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    return np.isfinite(seconds) & (seconds >= 0)


def _matrices(
    name: str, rows: Table, num_ranks: int, order: tuple[str, str] = ("src", "dst")
) -> dict[str, sp.csr_array]:
    """Messages, bytes and the largest message of all pairs, as [first, second] of the order.

    The rows ascend by the two fields of the order.
    """
    first, second = (rows[field].astype(np.int64) for field in order)
    for field, ranks in zip(order, (first, second), strict=True):
        _require(name, field, rows, ranks < num_ranks)
    pairs = first * num_ranks + second
    is_behind = np.ones(len(pairs), dtype=bool)
    is_behind[1:] = np.diff(pairs) > 0
    _require(name, "order of the pairs", rows, is_behind)
    _require(name, "messages", rows, rows["messages"] > 0)
    _require(name, "max_bytes", rows, rows["max_bytes"] <= rows["bytes"])
    begins = np.searchsorted(first, np.arange(num_ranks + 1))
    shape = (num_ranks, num_ranks)
    return {
        field: sp.csr_array((rows[field].astype(np.float64), second, begins), shape=shape)
        for field in ("messages", "bytes", "max_bytes")
    }


def _with_fetched(
    sent: dict[str, sp.csr_array], rows: Table, num_ranks: int
) -> dict[str, sp.csr_array]:
    """The matrices of what ranks sent, and of what others got from them by one-sided calls."""
    fetched = _matrices("fetched", rows, num_ranks, ("dst", "src"))
    from_src = {field: sp.csr_array(matrix.T) for field, matrix in fetched.items()}
    return {
        "messages": sp.csr_array(sent["messages"] + from_src["messages"]),
        "bytes": sp.csr_array(sent["bytes"] + from_src["bytes"]),
        "max_bytes": sp.csr_array(sent["max_bytes"].maximum(from_src["max_bytes"])),
    }


def _communicators(
    rows: Table, members: Table, num_ranks: int
) -> tuple[npt.NDArray[np.uint64], list[npt.NDArray[np.int64]]]:
    """Ids of the communicators, ascending, and the world ranks of each."""
    ids = rows["id"].astype(np.uint64)
    if len(np.unique(ids)) < len(ids):
        raise ValueError("communicators: an id comes twice")
    if sum(rows["num_members"].tolist()) != len(members):
        raise ValueError("communicators: num_members: is not the length of the table of members")
    world_ranks = members["world_rank"].astype(np.int64)
    _require("members", "world_rank", members, world_ranks < num_ranks)
    parts = np.split(world_ranks, np.cumsum(rows["num_members"].astype(np.int64))[:-1])
    order = np.argsort(ids)
    return ids[order], [parts[place] for place in order]


def _calls(
    operations: list[str],
    rows: Table,
    ids: npt.NDArray[np.uint64],
    communicators: list[npt.NDArray[np.int64]],
) -> list[CollectiveCall]:
    """All ranks' calls of one kind added up."""
    _require("collectives", "operation", rows, rows["operation"] < len(operations))
    _require("collectives", "seconds", rows, _is_duration(rows["seconds"]))
    _require("collectives", "calls", rows, (rows["calls"] > 0) & (rows["calls"] < MOST_CALLS))
    is_rank = (rows["root"] >= LEAST_ROOT) & (rows["root"] < rows["communicator_size"])
    _require("collectives", "root", rows, is_rank)
    # The same operation with counts of two types has two numbers.
    names, name_of_operation = np.unique(operations, return_inverse=True)
    place = np.searchsorted(ids, rows["communicator"])
    is_known = np.isin(rows["communicator"], ids)
    kinds = np.stack(
        [
            name_of_operation[rows["operation"]].astype(np.int64),
            rows["communicator_size"].astype(np.int64),
            rows["message_bytes"].astype(np.int64),
            np.maximum(rows["root"].astype(np.int64), -1),
            np.where(is_known, place, -1),
        ]
    )
    order = np.lexsort(kinds[::-1])
    kinds = kinds[:, order]
    begins = np.flatnonzero(np.any(np.diff(kinds, axis=1, prepend=-2) != 0, axis=0))
    if not begins.size:
        return []
    calls = np.add.reduceat(rows["calls"][order], begins).tolist()
    seconds = np.add.reduceat(rows["seconds"][order], begins).tolist()
    return [
        CollectiveCall(
            str(names[name]),
            size,
            num_bytes,
            num_calls,
            spent_s,
            root=None if root < 0 else root,
            communicator=None if communicator < 0 else communicator,
        )
        for (name, size, num_bytes, root, communicator), num_calls, spent_s in zip(
            kinds[:, begins].T.tolist(), calls, seconds, strict=True
        )
    ]
