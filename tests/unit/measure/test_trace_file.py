# SPDX-License-Identifier: Apache-2.0
"""The file of a traced run is read whole or refused by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import InputError
from fairlead.measure.trace_file import read_trace
from fairlead.model.traffic import Untraced

# As docs/design/trace-files.md has it, in the byte order of most machines.
RANK = "<f8,<u8,<u8,<u8,<u8,<u8"
PAIR = "<u4,<u4,<u8,<u8,<u8"
COLLECTIVE = "<u8,<u4,<u4,<i8,<u8,<u8,<f8"
COMMUNICATOR = "<u8,<u8"
MEMBER = "<u4"
COMPUTING = "<u4,<u4,<f8,S64"
WORLD, LOWER = 2**63 + 5, 7

TABLES: dict[str, tuple[str, list[Any]]] = {
    "ranks": (RANK, [(1.25, 1, 7, 0, 2, 0), (1.5, 0, 0, 2, 1, 4), (1.0, 0, 0, 0, 0, 0)]),
    "sent": (PAIR, [(0, 1, 3, 3072, 2000), (1, 1, 1, 5, 5)]),
    # Got by one-sided calls of the destination, by which they ascend.
    "fetched": (PAIR, [(2, 0, 1, 40, 40), (0, 1, 2, 5000, 4000), (2, 1, 1, 8, 8)]),
    "exchanged": (PAIR, [(0, 1, 1, 64, 64)]),
    "collectives": (
        COLLECTIVE,
        [
            (WORLD, 3, 0, -1, 8, 10, 0.5),
            (WORLD, 3, 2, -1, 8, 10, 0.25),
            (LOWER, 2, 1, 1, 512, 4, 1.0),
            (LOWER, 2, 1, -2, 1024, 4, 1.0),
            (99, 3, 1, 0, 512, 4, 1.0),
        ],
    ),
    "communicators": (COMMUNICATOR, [(WORLD, 3), (LOWER, 2)]),
    "members": (MEMBER, [0, 2, 1, 1, 0]),
    "computing": (COMPUTING, [(0, 0, 0.75, b"h0"), (1, 0, np.nan, b"h1"), (2, 0, 0.5, b"h0")]),
}
# The last is the same operation with large counts.
OPERATIONS = ["allreduce", "bcast", "allreduce"]


def trace(order: str = "<", header: dict[str, Any] | None = None, **changes: Any) -> bytes:
    """The file; tables may be replaced, and fields of the header, None takes them out."""
    tables = {name: (form, changes.get(name, rows)) for name, (form, rows) in TABLES.items()}
    fields = {
        "format": "fairlead-trace",
        "version": 4,
        "byte_order": "little" if order == "<" else "big",
        "mpi": "Open MPI v4.1.4",
        "operations": OPERATIONS,
        "num_rows": {name: len(rows) for name, (_, rows) in tables.items()},
        **(header or {}),
    }
    fields = {name: value for name, value in fields.items() if value is not None}
    arrays = [np.array(rows, form.replace("<", order)).tobytes() for form, rows in tables.values()]
    return json.dumps(fields, separators=(",", ":")).encode() + b"   \n" + b"".join(arrays)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trace"


@pytest.mark.parametrize("order", ["<", ">"])
def test_every_field_is_read(file: Path, order: str) -> None:
    file.write_bytes(trace(order))

    traffic = read_trace(file)

    assert traffic.bytes.toarray().tolist() == [[0, 8072, 0], [0, 5, 0], [40, 8, 0]]
    assert traffic.messages.toarray().tolist() == [[0, 5, 0], [0, 1, 0], [1, 1, 0]]
    assert traffic.max_message_bytes is not None
    assert traffic.max_message_bytes.toarray().tolist() == [[0, 4000, 0], [0, 5, 0], [40, 8, 0]]
    assert traffic.exchange_bytes is not None
    assert traffic.exchange_bytes.toarray().tolist() == [[0, 64, 0], [0, 0, 0], [0, 0, 0]]
    assert [ranks.tolist() for ranks in traffic.communicators] == [[1, 0], [0, 2, 1]]
    assert traffic.collectives == (
        ("allreduce", 3, 8, 20, 0.75, None, 1),
        ("bcast", 2, 512, 4, 1.0, 1, 0),
        ("bcast", 2, 1024, 4, 1.0, None, 0),
        ("bcast", 3, 512, 4, 1.0, 0, None),
    )
    assert traffic.run_time_s == 1.5
    assert traffic.compute_s is not None
    assert np.array_equal(traffic.compute_s, [0.75, np.nan, 0.5], equal_nan=True)
    assert traffic.compute_hosts == ("h0", "h1", "h0")
    assert traffic.untraced == Untraced(
        messages=1, bytes=7, collective_calls=2, shared_windows=3, spawned_processes=4
    )
    assert traffic.origin == {"how": "traced", "mpi": "Open MPI v4.1.4"}


def test_a_program_that_sends_nothing_has_empty_tables(file: Path) -> None:
    nothing = {name: [] for name in TABLES if name != "ranks"}
    file.write_bytes(trace(header={"operations": []}, **nothing))

    traffic = read_trace(file)

    assert traffic.bytes.nnz == 0
    assert (traffic.collectives, traffic.communicators) == ((), ())


def test_a_file_of_an_earlier_version_has_no_computing_times(file: Path) -> None:
    counts = {name: len(rows) for name, (_, rows) in TABLES.items() if name != "computing"}
    file.write_bytes(trace(header={"version": 3, "num_rows": counts}, computing=[]))

    traffic = read_trace(file)

    assert (traffic.compute_s, traffic.compute_hosts) == (None, ())


def rows_with(table: str, index: int, **changes: Any) -> dict[str, list[Any]]:
    """A table with some places of one row changed: `_3=8` puts 8 into place 3."""
    rows = list(TABLES[table][1])
    row = list(rows[index])
    for place, value in changes.items():
        row[int(place[1:])] = value
    rows[index] = tuple(row)
    return {table: rows}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"header": {"version": 2}}, "version: Input should be 3"),
        ({"header": {"byte_order": "middle"}}, "byte_order: Input should be 'little' or 'big'"),
        ({"header": {"operations": ["a.b"]}}, "operations.0: String should match"),
        ({"header": {"mpi": None}}, "mpi: Field required"),
        ({"header": {"more": 1}}, "more: Extra inputs"),
        ({"header": {"num_rows": {"ranks": 3}}}, "num_rows.sent: Field required"),
        ({"ranks": []}, "num_rows.ranks: Input should be greater than or equal to 1"),
        (rows_with("ranks", 1, _0=np.nan), "not whole: 1 of 3 ranks are missing"),
        (rows_with("ranks", 1, _0=-1), "ranks: row 1: run_time_s: impossible value in (-1.0,"),
        (rows_with("ranks", 1, _0=np.inf), "ranks: row 1: run_time_s"),
        (rows_with("sent", 1, _0=3), "sent: row 1: src"),
        (rows_with("sent", 0, _1=3), "sent: row 0: dst"),
        (rows_with("sent", 1, _0=0), "sent: row 1: order of the pairs"),
        (rows_with("sent", 0, _2=0), "sent: row 0: messages"),
        (rows_with("fetched", 0, _0=3), "fetched: row 0: src"),
        (rows_with("fetched", 2, _1=3), "fetched: row 2: dst"),
        (rows_with("fetched", 2, _0=0), "fetched: row 2: order of the pairs"),
        (rows_with("exchanged", 0, _4=65), "exchanged: row 0: max_bytes"),
        (rows_with("collectives", 0, _2=3), "collectives: row 0: operation"),
        (rows_with("collectives", 2, _3=2), "collectives: row 2: root"),
        (rows_with("collectives", 2, _3=-3), "collectives: row 2: root"),
        (rows_with("collectives", 2, _5=0), "collectives: row 2: calls"),
        (rows_with("collectives", 2, _5=2**63), "collectives: row 2: calls"),
        (rows_with("collectives", 2, _6=np.nan), "collectives: row 2: seconds"),
        (rows_with("collectives", 2, _4=2**63), "collectives: numbers must be"),
        (rows_with("collectives", 2, _1=3), "communicator: none of this size"),
        (rows_with("communicators", 1, _0=WORLD), "communicators: an id comes twice"),
        (rows_with("communicators", 1, _1=3), "num_members: is not the length"),
        (rows_with("communicators", 1, _1=2**63), "num_members: is not the length"),
        ({"members": [0, 2, 3, 1, 0]}, "members: row 2: world_rank"),
        ({"members": [0, 2, 2, 1, 0]}, "communicators: expected distinct ranks in 0..2"),
    ],
)
def test_a_wrong_value_is_named(file: Path, changes: dict[str, Any], message: str) -> None:
    file.write_bytes(trace(**changes))

    with pytest.raises(InputError) as error:
        read_trace(file)

    assert message in str(error.value)
    assert str(error.value).startswith(f"{file}: ")


@pytest.mark.parametrize("table", sorted(TABLES))
def test_no_room_is_made_for_rows_that_are_not_there(file: Path, table: str) -> None:
    num_rows = {name: len(rows) for name, (_, rows) in TABLES.items()} | {table: 2**62}
    file.write_bytes(trace(header={"num_rows": num_rows}))

    with pytest.raises(InputError, match=r"not whole: expected [0-9]{18,} bytes after the header"):
        read_trace(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone: cannot be read: No such file"):
        read_trace(tmp_path / "gone")


def test_a_trace_of_version_1_is_refused(file: Path) -> None:
    file.write_text("fairlead-trace 1\nnum_ranks 1\n")

    with pytest.raises(InputError, match="not a trace file"):
        read_trace(file)


@pytest.mark.parametrize("line", [b'{"format":"fairlead-trace"' + b"[" * 10**6, b"\xff", b""])
def test_a_header_that_is_none_is_refused(file: Path, line: bytes) -> None:
    file.write_bytes(b'{"format":"fairlead-trace",' + line + b"\n")

    with pytest.raises(InputError, match="header: is no JSON"):
        read_trace(file)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(noise)

    with pytest.raises(InputError):
        read_trace(path)


@given(st.integers(min_value=0, max_value=len(trace()) - 1))
def test_any_truncation_is_refused(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    path = tmp_path_factory.getbasetemp() / "truncated"
    path.write_bytes(trace()[:length])

    with pytest.raises(InputError):
        read_trace(path)


@given(st.data())
def test_any_changed_byte_gives_traffic_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(trace())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(content)

    try:
        assert read_trace(path).num_ranks == 3
    except InputError as error:
        assert str(error).startswith(f"{path}: ")
