# SPDX-License-Identifier: Apache-2.0
"""Collective calls of OTF2 traces: among which ranks they are, and which are left out."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
from pathlib import Path

import pytest
from otf2_calls import (
    MANY_PARTS,
    ONCE_SCANNED,
    SCORE_P,
    SYSTEM_PYTHON,
    calls,
    has_otf2,
    read,
    rows,
    same,
    write_trace,
)

from fairlead.errors import InputError
from fairlead.files.package_folders import data_folder
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.traffic import Traffic

pytestmark = has_otf2


def test_alltoall_is_an_exchange_of_equal_parts_in_world_ranks(tmp_path: Path) -> None:
    communicators = {"odd": [3, 1]}
    events = calls("alltoall", {3: (14, 14), 1: (14, 14)}, communicator="odd") * 2
    traffic = read(tmp_path, 4, events, communicators=communicators, creator=SCORE_P)

    assert rows(traffic) == [("alltoall", 2, 14, 4, None)]
    assert [ranks.tolist() for ranks in traffic.communicators] == [[3, 1]]
    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    assert traffic.exchange_max_message_bytes is not None
    expected = [[0, 0, 0, 0], [0, 0, 0, 14], [0, 0, 0, 0], [0, 14, 0, 0]]
    assert traffic.exchange_bytes.toarray().tolist() == expected
    assert traffic.exchange_messages.toarray()[1, 3] == 2
    assert traffic.exchange_max_message_bytes.toarray()[1, 3] == 7
    assert traffic.carried.bytes.toarray().tolist() == expected


@pytest.mark.parametrize("operation", ["alltoallv", "alltoallw", "ialltoallv"])
def test_alltoallv_is_shared_evenly_and_the_origin_names_it(tmp_path: Path, operation: str) -> None:
    name = operation.removeprefix("i")
    is_blocking = name == operation
    first = calls(name, {0: (30, 12), 1: (0, 12), 2: (6, 12)}, is_blocking=is_blocking)
    second = calls(name, {0: (60, 20), 1: (0, 20), 2: (0, 20)}, is_blocking=is_blocking)
    traffic = read(tmp_path, 3, [*first, *second])

    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    assert traffic.exchange_max_message_bytes is not None
    assert traffic.exchange_bytes.toarray().tolist() == [[0, 30, 30], [0, 0, 0], [2, 2, 0]]
    assert traffic.exchange_messages.toarray().tolist() == [[0, 2, 2], [0, 0, 0], [1, 1, 0]]
    assert traffic.exchange_max_message_bytes.toarray()[0, 1] == 20
    assert rows(traffic) == [(operation, 3, size, 2, None) for size in (0, 3, 45)]
    assert f"{operation} in even shares" in traffic.origin["assumed"]


def test_nonblocking_calls_are_counted_when_they_complete(tmp_path: Path) -> None:
    events = calls("allreduce", same(4, 256, 256), is_blocking=False)
    traffic = read(tmp_path, 4, events, creator=SCORE_P)

    assert rows(traffic) == [("iallreduce", 4, 64, 4, None)]
    assert traffic.carried.bytes.sum() == 4 * 2 * 64


def test_communicators_of_the_same_ranks_are_one_and_nested_ones_are_their_own(
    tmp_path: Path,
) -> None:
    communicators = {"half": [2, 0], "copy": [0, 1, 2, 3], "one": [2]}
    events = [
        *calls("barrier", same(4, 0, 0)),
        *calls("barrier", same(4, 0, 0), communicator="copy"),
        *calls("barrier", {2: (0, 0), 0: (0, 0)}, communicator="half"),
        *calls("bcast", {2: (5, 5)}, communicator="one", root=0),
    ]
    traffic = read(tmp_path, 4, events, communicators=communicators)

    assert rows(traffic) == [
        ("barrier", 2, 0, 2, None), ("barrier", 4, 0, 8, None), ("bcast", 1, 5, 1, 0)
    ]  # fmt: skip
    of_communicator = {tuple(ranks.tolist()) for ranks in traffic.communicators}
    assert of_communicator == {(0, 1, 2, 3), (2, 0), (2,)}


def test_each_rank_has_its_own_comm_self(tmp_path: Path) -> None:
    events = calls("allreduce", {1: (8, 8), 3: (8, 8)}, communicator="self")
    traffic = read(tmp_path, 4, events, communicators={"self": "self"})

    assert rows(traffic) == [("allreduce", 1, 8, 1, None), ("allreduce", 1, 8, 1, None)]
    assert sorted(ranks.tolist() for ranks in traffic.communicators) == [[1], [3]]
    assert traffic.carried.bytes.nnz == 0


def test_between_two_groups_messages_count_and_collectives_are_left_out(tmp_path: Path) -> None:
    communicators = {"between": [[0, 1], [3, 2]]}
    message = {"rank": 1, "communicator": "between", "receiver": 0, "bytes": 70}
    answer = {"rank": 3, "communicator": "between", "receiver": 1, "bytes": 7}
    events = [
        message, answer, *calls("allreduce", same(4, 16, 16), communicator="between")
    ]  # fmt: skip
    traffic = read(tmp_path, 4, events, communicators=communicators, creator=SCORE_P)

    assert traffic.bytes.toarray()[1, 3] == 70
    assert traffic.bytes.toarray()[3, 1] == 7
    assert not traffic.collectives
    assert traffic.origin["left_out"] == "4 calls of allreduce, between two groups of ranks"


def test_neighbourhood_calls_which_score_p_writes_as_others_are_left_out(tmp_path: Path) -> None:
    events = [
        *calls("alltoall", same(4, 20, 20), region="MPI_Neighbor_alltoall"),
        *calls("allgather", same(4, 20, 20), region="MPI_Ineighbor_allgather", is_blocking=False),
        *calls("alltoall", same(4, 16, 16)),
    ]
    traffic = read(tmp_path, 4, events, creator=SCORE_P)

    assert rows(traffic) == [("alltoall", 4, 16, 4, None)]
    assert traffic.origin["left_out"] == (
        "4 calls of ineighbor_allgather and 4 calls of neighbor_alltoall, "
        "whose partners are unknown"
    )


def test_unknown_operations_and_sizes_are_named_in_one_line(tmp_path: Path) -> None:
    events = [
        *calls(77, same(2, 8, 8)),
        *calls("alltoall", same(2, 0, 0)),
        *calls("gather", same(2, 8, 8), root=2),
        *calls("create_handle", same(2, 0, 0)),
    ]
    traffic = read(tmp_path, 2, events)

    assert not traffic.collectives
    assert traffic.origin["left_out"] == (
        "2 calls of alltoall, without sizes; 2 calls of gather, whose root is unknown; "
        "2 calls of operation 77, unknown"
    )


@pytest.mark.parametrize("operation", ["alltoall", "alltoallv"])
def test_exchanges_of_more_pairs_than_fit_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    monkeypatch.setattr("fairlead.measure.traffic_files.otf2_exchanges.MOST_PAIRS", 12)
    events = [
        *calls(operation, same(3, 9, 9)),
        *calls(operation, {0: (8, 8), 2: (8, 8)}, communicator="pair"),
    ]
    options = {"communicators": {"pair": [0, 2]}, "creator": SCORE_P}
    traffic = read(tmp_path, 3, events, **options)

    assert rows(traffic) == [(operation, 2, 8, 2, None)]
    assert traffic.exchange_bytes is not None
    assert traffic.exchange_bytes.toarray().tolist() == [[0, 0, 4], [0, 0, 0], [4, 0, 0]]
    assert traffic.origin["left_out"] == f"3 calls of {operation}, of too many pairs of ranks"


def test_what_is_read_can_be_saved_and_loaded(tmp_path: Path) -> None:
    events = [*MANY_PARTS, *calls("alltoall", same(4, 400, 400))]
    traffic = read(tmp_path, 4, events)

    traffic.save(tmp_path / "t.traffic.npz")
    loaded = Traffic.load(tmp_path / "t.traffic.npz")

    assert loaded.collectives == traffic.collectives
    assert all(isinstance(call, CollectiveCall) for call in loaded.collectives)
    assert math.isnan(loaded.run_time_s)
    assert dataclasses.asdict(loaded)["origin"] == traffic.origin


def test_exchanges_in_several_communicators_and_sizes_are_added_up(tmp_path: Path) -> None:
    events = [
        *calls("alltoall", same(3, 30, 30)),
        *calls("alltoall", same(3, 60, 60)),
        *calls("alltoallv", {0: (8, 8), 2: (4, 4)}, communicator="pair"),
    ]
    traffic = read(tmp_path, 3, events, communicators={"pair": [2, 0]}, creator=SCORE_P)

    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    assert traffic.exchange_max_message_bytes is not None
    # 10 and 20 bytes to each rank, and half of 8 or 4 bytes to the other one of the pair.
    assert traffic.exchange_bytes.toarray().tolist() == [[0, 30, 34], [30, 0, 30], [32, 30, 0]]
    assert traffic.exchange_messages.toarray().tolist() == [[0, 2, 3], [2, 0, 2], [3, 2, 0]]
    assert traffic.exchange_max_message_bytes.toarray()[2, 0] == 20


def test_an_impossible_size_is_one_line_with_the_file(tmp_path: Path) -> None:
    events = [*ONCE_SCANNED, *calls("alltoall", same(4, 2**63, 2**63))]
    trace = write_trace(tmp_path, 4, events)

    with pytest.raises(InputError, match=r"collectives: numbers must be") as caught:
        load_traffic(trace)
    assert str(caught.value).startswith(f"{trace}: ")
    assert "\n" not in str(caught.value)


def test_kinds_of_calls_beyond_the_table_are_counted(tmp_path: Path) -> None:
    """The program that reads a trace, run as it is, with a smaller table."""
    events = [call for size in range(1, 5) for call in calls("allreduce", {0: (size, size)})]
    trace = write_trace(tmp_path, 1, events)
    program = data_folder("measure/traffic_files") / "otf2_events.py"
    smaller = (
        "import sys; sys.argv = sys.argv[1:]; "
        "import importlib.util as u; s = u.spec_from_file_location('e', sys.argv[0]); "
        "e = u.module_from_spec(s); s.loader.exec_module(e); e.MOST_ROWS = 3; e.main()"
    )
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", smaller, str(program), str(trace)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip

    found = json.loads(done.stdout)
    assert len(found["collectives"]) == 3
    assert found["calls_beyond_table"] == 1


@pytest.mark.parametrize("damage", ["cut", "overwritten", "missing"])
def test_damaged_events_are_one_line(tmp_path: Path, damage: str) -> None:
    trace = write_trace(tmp_path, 3, calls("alltoall", same(3, 30, 30)) * 50)
    events = trace.parent / "traces" / "0.evt"
    content = events.read_bytes()
    half = len(content) // 2
    if damage == "cut":
        events.write_bytes(content[:half])
    elif damage == "overwritten":
        events.write_bytes(content[:half] + b"\xff" * half)
    else:
        events.unlink()

    with pytest.raises(InputError, match=r"^\S+: cannot be read as OTF2: .+INVALID_") as caught:
        load_traffic(trace)
    assert str(caught.value).startswith(str(trace))
    assert "\n" not in str(caught.value)
