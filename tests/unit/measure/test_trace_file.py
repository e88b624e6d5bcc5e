# SPDX-License-Identifier: Apache-2.0
"""The file of a traced run is read whole or refused by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import InputError
from fairlead.measure.trace_file import read_trace
from fairlead.model.traffic import Uncounted

GOOD = """fairlead-trace 1
num_ranks 2
mpi Open MPI v4.1.4
rank 0 1.25 1 7 0
sent 0 1 3 3072 2000
exchanged 0 1 1 64 64
collective allreduce 2 8 10 0.5
rank 1 1.5 0 0 2
sent 1 1 1 5 5
collective allreduce 2 8 10 0.25
end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trace"
    path.write_text(GOOD)
    return path


def test_every_field_is_read(file: Path) -> None:
    traffic = read_trace(file)

    assert traffic.bytes.toarray().tolist() == [[0, 3072], [0, 5]]
    assert traffic.messages.toarray().tolist() == [[0, 3], [0, 1]]
    assert traffic.max_message_bytes is not None
    assert traffic.max_message_bytes.toarray().tolist() == [[0, 2000], [0, 5]]
    assert traffic.exchange_bytes is not None
    assert traffic.exchange_bytes.toarray().tolist() == [[0, 64], [0, 0]]
    assert traffic.collectives == (("allreduce", 2, 8, 20, 0.75),)
    assert traffic.run_time_s == 1.5
    assert traffic.uncounted == Uncounted(messages=1, bytes=7, collective_calls=2)
    assert traffic.origin == {"how": "traced", "mpi": "Open MPI v4.1.4"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fairlead-trace 1", "fairlead-trace 2", "not a trace file of this version"),
        ("num_ranks 2", "num_ranks 0", "line 2: num_ranks: must be >= 1"),
        ("num_ranks 2", "num_ranks x", "line 2: expected a whole number"),
        ("num_ranks 2", "num_ranks 3", "1 of 3 ranks are missing"),
        ("mpi Open", "mpi: Open", "line 3: expected 'mpi'"),
        ("rank 1 1.5", "rank 0 1.5", "line 8: rank 0 comes twice"),
        ("rank 1 1.5", "rank 1 nan", "line 8: expected seconds"),
        ("rank 1 1.5", "rank 1 -1", "line 8: expected seconds"),
        ("sent 0 1 3", "sent 0 2 3", "line 5: expected a whole number from 0 to 1"),
        ("sent 0 1 3", "sent 1 0 3", "line 5: rank 1 sends before its line"),
        ("sent 0 1 3 3072 2000", "sent 0 1 0 3072 2000", "line 5: 0 messages"),
        ("sent 0 1 3 3072 2000", "sent 0 1 3 1 2000", "line 5: 3 messages of 1 B"),
        ("sent 0 1 3 3072 2000", "sent 0 1 3 3072", "line 5: sent: expected 5 fields, got 4"),
        ("sent 1 1 1 5 5", "sent 0 1 1 5 5", "line 9: ranks 0 and 1 come twice"),
        ("3072", "99999999999999999999", "line 5: expected a whole number"),
        ("allreduce 2 8 10 0.5", "a.b 2 8 10 0.5", "line 7: operation 'a.b' is no name"),
        ("exchanged", "traded", "line 6: unknown kind of line 'traded'"),
        ("end\n", "", "not whole: its last line is not `end`"),
    ],
)
def test_a_wrong_line_is_named(file: Path, old: str, new: str, message: str) -> None:
    file.write_text(GOOD.replace(old, new, 1))

    with pytest.raises(InputError) as error:
        read_trace(file)

    assert message in str(error.value)
    assert str(error.value).startswith(f"{file}: ")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone: cannot be read: No such file"):
        read_trace(tmp_path / "gone")


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(noise)

    with pytest.raises(InputError):
        read_trace(path)


@given(st.integers(min_value=0, max_value=len(GOOD) - 1))
def test_any_truncation_is_refused(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    path = tmp_path_factory.getbasetemp() / "truncated"
    path.write_text(GOOD[:length])

    with pytest.raises(InputError):
        read_trace(path)
