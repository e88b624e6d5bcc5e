# SPDX-License-Identifier: Apache-2.0
"""Sizes of collective calls in OTF2 traces, as the named writers count them:

Score-P and later sst-dumpi count a part for each rank of the communicator, its own included
(Score-P, in place: one less); Arcane and early sst-dumpi the arguments of the call.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from otf2_calls import (
    MANY_PARTS,
    ONCE_SCANNED,
    SCORE_P,
    Call,
    calls,
    has_otf2,
    read,
    rows,
    same,
)

pytestmark = has_otf2

TICKS_PER_S = 4
"""The writer's; a call takes two ticks."""

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


ONCE = calls("bcast", {0: (100, 0), 1: (0, 100), 2: (0, 100), 3: (0, 100)}, root=0)
MANY_GATHERED = calls("gather", {0: (9, 36), 1: (9, 0), 2: (9, 0), 3: (9, 0)}, root=0)
# Ranks send 1, 2, 3 and 4 bytes to all.
MANY_V = calls("allgatherv", {rank: (4 * (rank + 1), 10) for rank in range(4)})
ONCE_V = calls("allgatherv", {rank: (rank + 1, 10) for rank in range(4)})
MANY_SCANNED = calls("scan", {rank: ((4 - rank) * 8, (rank + 1) * 8) for rank in range(4)})
SHORT_ROOT = calls("reduce", {0: (9, 9), 1: (9, 0), 2: (9, 0), 3: (9, 0)}, root=0)


@pytest.mark.parametrize(
    ("evidence", "operation", "size"),
    [
        (MANY_PARTS, "allreduce", 64),
        (MANY_GATHERED, "allreduce", 64),
        (MANY_V, "allreduce", 64),
        (MANY_SCANNED, "allreduce", 64),
        (ONCE, "allreduce", 256),
        (ONCE_V, "allreduce", 256),
        (ONCE_SCANNED, "allreduce", 256),
        (MANY_PARTS, "alltoall", 256),
        (ONCE, "alltoall", 1024),
        (MANY_PARTS, "allgather", 64),
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


@pytest.mark.parametrize("evidence", [[], [*MANY_PARTS, *ONCE_SCANNED], SHORT_ROOT])
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
