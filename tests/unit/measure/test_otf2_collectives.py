# SPDX-License-Identifier: Apache-2.0
"""Collective calls of OTF2 traces. Their sizes are those that the named writers count:

Score-P and later sst-dumpi count a part for each rank of the communicator, its own included
(Score-P, in place: one less); Arcane and early sst-dumpi the arguments of the call.
"""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
from pathlib import Path

import pytest
from otf2_calls import SYSTEM_PYTHON, Call, calls, has_otf2, write_trace

from fairlead.errors import InputError
from fairlead.files.package_folders import data_folder
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.traffic import Traffic

pytestmark = has_otf2

SCORE_P = "Score-P 8.4"
TICKS_PER_S = 4
"""The writer's; a call takes two ticks."""


def same(num_ranks: int, sent: int, received: int) -> dict[int, tuple[int, int]]:
    return dict.fromkeys(range(num_ranks), (sent, received))


def rows(traffic: Traffic) -> list[tuple[str, int, int, int, int | None]]:
    """Operation, ranks, bytes, calls and root, in order."""
    return sorted(
        (call.operation, call.communicator_size, call.message_bytes, call.calls, call.root)
        for call in traffic.collectives
    )


def read(folder: Path, num_ranks: int, events: list[Call], **options: object) -> Traffic:
    return load_traffic(write_trace(folder, num_ranks, events, **options))  # type: ignore[arg-type]


# For all writers, what ranks other than the root send or receive is the part of one rank.
SCORE_P_BCAST = {0: (0, 100), 1: (300, 100), 2: (0, 100)}
ARGUMENTS_BCAST = {0: (0, 100), 1: (100, 0), 2: (0, 100)}
SCORE_P_GATHER = {0: (100, 0), 1: (100, 300), 2: (100, 0)}
IN_PLACE_GATHER = {0: (100, 0), 1: (0, 200), 2: (100, 0)}
ARGUMENTS_GATHER = {0: (100, 0), 1: (100, 100), 2: (100, 0)}
SCORE_P_SCATTER = {0: (0, 100), 1: (300, 100), 2: (0, 100)}
IN_PLACE_SCATTER = {0: (0, 100), 1: (200, 0), 2: (0, 100)}
ARGUMENTS_SCATTER = {0: (0, 100), 1: (100, 0), 2: (0, 100)}


@pytest.mark.parametrize(
    ("operation", "sizes"),
    [
        ("bcast", SCORE_P_BCAST),
        ("bcast", ARGUMENTS_BCAST),
        ("gather", SCORE_P_GATHER),
        ("gather", IN_PLACE_GATHER),
        ("gather", ARGUMENTS_GATHER),
        ("scatter", SCORE_P_SCATTER),
        ("scatter", IN_PLACE_SCATTER),
        ("scatter", ARGUMENTS_SCATTER),
        ("reduce", SCORE_P_GATHER),
        ("reduce", IN_PLACE_GATHER),
        ("reduce", ARGUMENTS_GATHER),
    ],
)
def test_calls_with_a_root_have_the_size_of_the_other_ranks(
    tmp_path: Path, operation: str, sizes: dict[int, tuple[int, int]]
) -> None:
    traffic = read(tmp_path, 3, calls(operation, sizes, root=1))

    assert rows(traffic) == [(operation, 3, 100, 3, 1)]
    assert "left_out" not in traffic.origin


def test_seconds_communicator_and_messages_of_a_broadcast_are_those_of_the_trace(
    tmp_path: Path,
) -> None:
    traffic = read(tmp_path, 3, calls("bcast", SCORE_P_BCAST, root=1))

    (call,) = traffic.collectives
    assert call.seconds == pytest.approx(3 * 2 / TICKS_PER_S)
    assert [ranks.tolist() for ranks in traffic.communicators] == [[0, 1, 2]]
    # A binomial tree from rank 1: to the rank two behind it, 0, and to the next one, 2.
    assert traffic.carried.bytes.toarray().tolist() == [[0, 0, 0], [100, 0, 100], [0, 0, 0]]


def test_each_root_has_its_calls_in_the_sizes_of_the_other_ranks(tmp_path: Path) -> None:
    long = {0: (300, 100), 1: (0, 100), 2: (0, 100)}
    short = {0: (6, 2), 1: (0, 2), 2: (0, 2)}
    traffic = read(
        tmp_path,
        3,
        [
            *calls("bcast", long, root=0),
            *calls("bcast", short, root=0),
            *calls("bcast", short, root=0),
            *calls("bcast", SCORE_P_BCAST, root=1),
        ],
    )

    assert rows(traffic) == [
        ("bcast", 3, 2, 6, 0), ("bcast", 3, 100, 3, 0), ("bcast", 3, 100, 3, 1)
    ]  # fmt: skip


def test_sizes_at_the_root_that_fit_no_writer_are_left_out_by_name(tmp_path: Path) -> None:
    # A version of sst-dumpi writes nothing at ranks other than the root.
    of_root_only = {0: (100, 100), 1: (0, 0), 2: (0, 0)}
    unknown = {0: (170, 100), 1: (0, 100), 2: (0, 100)}
    traffic = read(
        tmp_path,
        3,
        [
            *calls("bcast", of_root_only, root=0),
            *calls("scatter", unknown, root=0),
            *calls("reduce", SCORE_P_GATHER, root=1),
        ],
    )

    assert rows(traffic) == [("reduce", 3, 100, 3, 1)]
    assert traffic.origin["left_out"] == (
        "3 calls of bcast and 3 calls of scatter, whose sizes differ between root and other ranks"
    )


@pytest.mark.parametrize("sent_at_root", [30, 0])
def test_parts_of_gatherv_are_those_of_each_rank(tmp_path: Path, sent_at_root: int) -> None:
    received = 10 + 20 + sent_at_root
    sizes = {0: (sent_at_root, received), 1: (10, 0), 2: (20, 0)}
    traffic = read(tmp_path, 3, calls("gatherv", sizes, root=0))

    assert sum(call.calls for call in traffic.collectives) == 3
    assert {(call.operation, call.root) for call in traffic.collectives} == {("gatherv", 0)}
    assert {call.message_bytes for call in traffic.collectives} <= {10, 20}


def test_scatterv_counts_what_ranks_receive(tmp_path: Path) -> None:
    sizes = {0: (10 + 20 + 20, 10), 1: (0, 20), 2: (0, 20)}
    traffic = read(tmp_path, 3, calls("scatterv", sizes, root=0))

    assert rows(traffic) == [("scatterv", 3, 20, 3, 0)]


NUM_RANKS = 4
PART = 64


@pytest.mark.parametrize(
    ("operation", "sent", "received", "size"),
    [
        # Score-P: each has a part for each of 4 ranks; in place, for 3.
        ("allreduce", 256, 256, 64),
        ("allreduce", 192 - 3, 192 - 3, 63),
        ("allgather", 256, 256, 64),
        ("alltoall", 256, 256, 256),
        ("reduce_scatter_block", 256, 256, 256),
        ("reduce_scatter", 256, 256, 256),
        ("barrier", 0, 0, 0),
        ("alltoall", 0, 0, 0),
    ],
)
def test_score_p_counts_a_part_for_each_rank(
    tmp_path: Path, operation: str, sent: int, received: int, size: int
) -> None:
    events = calls(operation, same(NUM_RANKS, sent, received), root=0)
    traffic = read(tmp_path, NUM_RANKS, events, creator=SCORE_P)

    assert rows(traffic) == [(operation, NUM_RANKS, size, NUM_RANKS, None)]
    assert "left_out" not in traffic.origin
    assert traffic.origin["written_by"] == SCORE_P


def test_an_allreduce_is_expected_to_double(tmp_path: Path) -> None:
    events = calls("allreduce", same(NUM_RANKS, 256, 256)) * 5
    traffic = read(tmp_path, NUM_RANKS, events, creator=SCORE_P)

    # Recursive doubling: with the neighbour, and with the rank two away; 5 calls of 64 bytes.
    assert traffic.carried.bytes.toarray().tolist() == [
        [0, 320, 320, 0],
        [320, 0, 0, 320],
        [320, 0, 0, 320],
        [0, 320, 320, 0],
    ]
    assert traffic.bytes.nnz == 0


MANY = calls("bcast", {0: (400, 100), 1: (0, 100), 2: (0, 100), 3: (0, 100)}, root=0)
ONCE = calls("bcast", {0: (100, 0), 1: (0, 100), 2: (0, 100), 3: (0, 100)}, root=0)
MANY_GATHERED = calls("gather", {0: (9, 36), 1: (9, 0), 2: (9, 0), 3: (9, 0)}, root=0)
# Ranks send 1, 2, 3 and 4 bytes to all.
MANY_V = calls("allgatherv", {rank: (4 * (rank + 1), 10) for rank in range(4)})
ONCE_V = calls("allgatherv", {rank: (rank + 1, 10) for rank in range(4)})
MANY_SCANNED = calls("scan", {rank: ((4 - rank) * 8, (rank + 1) * 8) for rank in range(4)})
ONCE_SCANNED = calls("scan", same(4, 8, 8))
SHORT_ROOT = calls("reduce", {0: (9, 9), 1: (9, 0), 2: (9, 0), 3: (9, 0)}, root=0)


@pytest.mark.parametrize(
    ("evidence", "operation", "size"),
    [
        (MANY, "allreduce", 64),
        (MANY_GATHERED, "allreduce", 64),
        (MANY_V, "allreduce", 64),
        (MANY_SCANNED, "allreduce", 64),
        (ONCE, "allreduce", 256),
        (ONCE_V, "allreduce", 256),
        (ONCE_SCANNED, "allreduce", 256),
        (MANY, "alltoall", 256),
        (ONCE, "alltoall", 1024),
        (MANY, "allgather", 64),
        (ONCE, "allgather", 256),
    ],
)
def test_other_calls_show_what_an_unknown_writer_counts(
    tmp_path: Path, evidence: list[Call], operation: str, size: int
) -> None:
    events = [*evidence, *calls(operation, same(NUM_RANKS, 256, 256))]
    traffic = read(tmp_path, NUM_RANKS, events)

    found = [call for call in traffic.collectives if call.operation == operation]
    assert [call.message_bytes for call in found] == [size]


@pytest.mark.parametrize("evidence", [[], [*MANY, *ONCE_SCANNED], SHORT_ROOT])
def test_sizes_that_can_be_read_in_two_ways_are_left_out(
    tmp_path: Path, evidence: list[Call]
) -> None:
    """One version of sst-dumpi counts a reduction once and an allreduce for each rank."""
    events = [*evidence, *calls("allreduce", same(NUM_RANKS, 256, 256))]
    traffic = read(tmp_path, NUM_RANKS, events)

    assert not [call for call in traffic.collectives if call.operation == "allreduce"]
    assert (
        "4 calls of allreduce, whose sizes can be read in several ways"
        in (traffic.origin["left_out"])
    )


def test_allgather_of_one_part_for_the_parts_of_all_needs_no_evidence(tmp_path: Path) -> None:
    traffic = read(tmp_path, NUM_RANKS, calls("allgather", same(NUM_RANKS, 64, 256)))

    assert rows(traffic) == [("allgather", NUM_RANKS, 64, NUM_RANKS, None)]


@pytest.mark.parametrize("events", [MANY_V, ONCE_V])
def test_allgatherv_has_each_ranks_own_part(tmp_path: Path, events: list[Call]) -> None:
    traffic = read(tmp_path, NUM_RANKS, events)

    assert rows(traffic) == [("allgatherv", 4, size, 1, None) for size in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("operation", "sizes"),
    [
        ("scan", {rank: ((4 - rank) * 8, (rank + 1) * 8) for rank in range(4)}),
        ("scan", {rank: ((3 - rank) * 8, rank * 8) for rank in range(4)}),
        ("exscan", {rank: ((3 - rank) * 8, rank * 8) for rank in range(4)}),
        ("scan", same(4, 8, 8)),
    ],
)
def test_scans_have_the_size_of_one_rank(
    tmp_path: Path, operation: str, sizes: dict[int, tuple[int, int]]
) -> None:
    traffic = read(tmp_path, NUM_RANKS, calls(operation, sizes))

    assert rows(traffic) == [(operation, 4, 8, 4, None)]


@pytest.mark.parametrize("operation", ["scan", "exscan"])
def test_the_middle_rank_of_a_scan_in_place_is_read_as_the_others_are(
    tmp_path: Path, operation: str
) -> None:
    traffic = read(tmp_path, 3, calls(operation, {0: (16, 0), 1: (8, 8), 2: (0, 16)}))

    assert rows(traffic) == [(operation, 3, 8, 3, None)]


def test_reduce_scatter_with_sizes_that_do_not_add_up_is_left_out(tmp_path: Path) -> None:
    # Ranks get 10, 20, 30 and 40 bytes of the vector of 100.
    right = calls("reduce_scatter", {rank: (100, 40 * (rank + 1)) for rank in range(4)})
    wrong = calls("reduce_scatter", {rank: (32, 40 * (rank + 1)) for rank in range(4)})

    traffic = read(tmp_path / "right", NUM_RANKS, right)
    wrong_traffic = read(tmp_path / "wrong", NUM_RANKS, wrong)

    assert rows(traffic) == [("reduce_scatter", 4, 100, 4, None)]
    assert not wrong_traffic.collectives
    assert "4 calls of reduce_scatter" in wrong_traffic.origin["left_out"]


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
    events = [*MANY, *calls("alltoall", same(4, 400, 400))]
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
