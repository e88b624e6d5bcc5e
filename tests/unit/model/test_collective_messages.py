# SPDX-License-Identifier: Apache-2.0
"""What collectives are expected to send: who has what at the end, and how much was sent for it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from fairlead.measure.rehearsal import num_steps_of
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.collective_messages import expected_messages
from fairlead.model.collective_messages.algorithms import ALGORITHMS, Algorithm, Call
from fairlead.model.collective_messages.choices import algorithm_of
from fairlead.model.collective_messages.steps import Step, partners
from fairlead.model.traffic import Traffic

COUNTS = (2, 3, 4, 5, 7, 8, 12, 16, 21, 32)
SIZES = (8, 3 << 10, 100 << 10, 4 << 20)

Matrix = npt.NDArray[np.float64]


MPIS = ("Open MPI v4.1.4, package: Debian", "MPICH Version: 4.0.2")


def of_one_call(
    operation: str, num_ranks: int, message_bytes: int, root: int | None = None, mpi: str = MPIS[0]
) -> tuple[Matrix, Matrix]:
    """Bytes and messages of one call, by positions in a communicator with its ranks reversed."""
    ranks = np.arange(num_ranks)[::-1]
    calls = [CollectiveCall(operation, num_ranks, message_bytes, num_ranks, 0.0, root, 0)]
    of_bytes, of_messages = expected_messages(calls, [ranks], num_ranks, mpi)
    return of_bytes.toarray()[::-1, ::-1], of_messages.toarray()[::-1, ::-1]


def known_at_end(algorithm: Algorithm, call: Call) -> list[set[int]]:
    """Whose data each rank has if every message carries all that its sender has.

    What is passed on along a ring, a chain or a tree is passed on as often as there are ranks.
    """
    known = [{rank} for rank in range(call.num_ranks)]
    for step, _, _ in algorithm(call):
        is_passed_on = step.kind in ("knomial", "chain") or step == Step("shift")
        src, dst = partners(step, call.num_ranks)
        for _ in range(call.num_ranks if is_passed_on and step.distance == 1 else 1):
            before = [set(one) for one in known]
            for one, other in zip(src, dst, strict=True):
                known[other] |= before[one]
    return known


def cases(*operations: str) -> list[tuple[str, str]]:
    return [(operation, name) for operation in operations for name in ALGORITHMS[operation]]


@pytest.mark.parametrize("num_ranks", COUNTS)
@pytest.mark.parametrize(("operation", "name"), cases("allgather", "allreduce", "barrier"))
def test_all_hear_of_all(operation: str, name: str, num_ranks: int) -> None:
    known = known_at_end(ALGORITHMS[operation][name], Call(num_ranks, 8))
    assert known == [set(range(num_ranks))] * num_ranks


@pytest.mark.parametrize("num_ranks", COUNTS)
@pytest.mark.parametrize(("operation", "name"), cases("gather", "reduce"))
def test_the_root_hears_of_all(operation: str, name: str, num_ranks: int) -> None:
    root = num_ranks // 2
    known = known_at_end(ALGORITHMS[operation][name], Call(num_ranks, 8, root))
    assert known[root] == set(range(num_ranks))


@pytest.mark.parametrize("num_ranks", COUNTS)
@pytest.mark.parametrize(("operation", "name"), cases("bcast", "scatter"))
def test_all_hear_of_the_root(operation: str, name: str, num_ranks: int) -> None:
    root = num_ranks // 2
    known = known_at_end(ALGORITHMS[operation][name], Call(num_ranks, 8, root))
    assert all(root in one for one in known)


@pytest.mark.parametrize("num_ranks", COUNTS)
@pytest.mark.parametrize("name", sorted(ALGORITHMS["scan"]))
def test_a_scan_hears_of_those_before(name: str, num_ranks: int) -> None:
    known = known_at_end(ALGORITHMS["scan"][name], Call(num_ranks, 8))
    assert all(set(range(rank + 1)) <= one for rank, one in enumerate(known))


@pytest.mark.parametrize("message_bytes", SIZES)
@pytest.mark.parametrize("num_ranks", COUNTS)
@pytest.mark.parametrize("name", [name for name in ALGORITHMS["allgather"] if name != "by root"])
def test_no_allgather_sends_more_than_it_has_to(
    name: str, num_ranks: int, message_bytes: int
) -> None:
    """The least that any algorithm can send: to each rank what it lacks."""
    sent = ALGORITHMS["allgather"][name](Call(num_ranks, message_bytes))
    total = sum(one * len(partners(step, num_ranks)[0]) for step, one, _ in sent)
    assert total == pytest.approx(num_ranks * (num_ranks - 1) * message_bytes)


@pytest.mark.parametrize("num_ranks", COUNTS)
@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("operation", ["bcast", "reduce", "scatterv", "gatherv"])
def test_each_rank_is_served(operation: str, mpi: str, num_ranks: int) -> None:
    for message_bytes in SIZES:
        of_bytes, _ = of_one_call(operation, num_ranks, message_bytes, 1, mpi)
        moved = of_bytes.sum(axis=int(operation in ("reduce", "gatherv")))
        assert np.all(np.delete(moved, 1) >= 0.49 * message_bytes)


@pytest.mark.parametrize("num_ranks", COUNTS)
@pytest.mark.parametrize("operation", ["gather", "scatter"])
def test_a_block_is_sent_once_for_each_bit_of_its_rank(operation: str, num_ranks: int) -> None:
    """In a binomial tree a node is as many edges below the root as its number has ones."""
    ones = sum(bin(rank).count("1") for rank in range(num_ranks))
    of_bytes, _ = of_one_call(operation, num_ranks, 100, root=1, mpi=MPIS[1])
    assert of_bytes.sum() == pytest.approx(100 * ones)


COUNTED_BY_OPEN_MPI = [
    ("allgather", 12, 1024, {-1: 12, -2: 24, -4: 48, 4: 48}),
    ("allgather", 16, 1024, {-4: 32, -2: 16, -1: 8, 1: 8, 2: 16, 4: 32, 8: 128}),
    ("allgather", 32, 131072, {1: 992}),
    ("allreduce", 16, 1024, {-4: 8, -2: 8, -1: 8, 1: 8, 2: 8, 4: 8, 8: 16}),
    ("allreduce", 16, 8192, {-4: 2, -2: 4, -1: 8, 1: 8, 2: 4, 4: 2, 8: 2}),
    ("reduce_scatter", 16, 65536, {-4: 2, -2: 1, -1: 0.5, 1: 0.5, 2: 1, 4: 2, 8: 8}),
    ("gather", 16, 8192, {-4: 8, -2: 8, -1: 8, 8: 8}),
    ("allgather", 32, 8192, {1: 496, -1: 496}),
    ("bcast", 16, 8192, {1: 1, 2: 2, 4: 4, 8: 8}),
    ("bcast", 16, 64, {-4: 1, 1: 4, 2: 4, 3: 4, 4: 1, 8: 1}),
    ("scatter", 16, 8192, {1: 8, 2: 8, 4: 8, 8: 8}),
]
"""Messages sent over each distance, in parts of the call's, as its own monitoring counted them in
version 4.1.4."""


@pytest.mark.parametrize(("operation", "num_ranks", "message_bytes", "wanted"), COUNTED_BY_OPEN_MPI)
def test_messages_are_those_that_open_mpi_counted(
    operation: str, num_ranks: int, message_bytes: int, wanted: dict[int, float]
) -> None:
    of_bytes, _ = of_one_call(operation, num_ranks, message_bytes, root=0)
    src, dst = np.nonzero(of_bytes)
    shift = (dst - src) % num_ranks
    shift = np.where(shift > num_ranks // 2, shift - num_ranks, shift)
    found = {int(one): of_bytes[src, dst][shift == one].sum() / message_bytes for one in set(shift)}
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize("operation", ["allreduce", "iallreduce", "allreduce_init"])
def test_nonblocking_and_persistent_calls_send_as_much(operation: str) -> None:
    assert of_one_call(operation, 8, 64)[0].sum() == 8 * 3 * 64


def test_a_long_reduction_sends_two_parts_of_its_vector() -> None:
    """Rabenseifner's: each rank sends (n - 1) / n of the vector for each of both halves."""
    of_bytes, _ = of_one_call("allreduce", 16, 8 << 20)
    assert of_bytes.sum(axis=1) == pytest.approx(np.full(16, 2 * 15 / 16 * (8 << 20)))


def test_mpich_reduces_long_vectors_by_halving_towards_the_nearest() -> None:
    """By its source: the half to the partner at distance 1, back from the farthest to the root."""
    of_bytes, _ = of_one_call("reduce", 8, 8000, 0, MPIS[1])
    assert of_bytes[0, 1] == 4000 and of_bytes[0, 2] == 2000 and of_bytes[0, 4] == 1000
    assert of_bytes[1, 0] == 4000 + 4000 and of_bytes[4, 0] == 1000 + 1000
    assert of_bytes.sum() == 8 * 7000 + 4 * 1000 + 2 * 2000 + 4000


def test_short_vectors_of_many_ranks_are_not_cut() -> None:
    call = Call(4096, 3000)
    assert algorithm_of("allreduce", call, MPIS[1]) is ALGORITHMS["allreduce"]["doubling"]
    long = Call(16, 1 << 20)
    assert algorithm_of("reduce_scatter", long, MPIS[1]) is ALGORITHMS["reduce_scatter"]["pairwise"]
    assert algorithm_of("exscan", long, MPIS[0]) is ALGORITHMS["scan"]["chain"]


@pytest.mark.parametrize("mpi", MPIS)
def test_calls_with_several_roots_burden_no_rank_alone(mpi: str) -> None:
    """A crowded trace does not distinguish roots any more."""
    sent = of_one_call("bcast", 8, 1000, None, mpi)[0]
    assert sent.sum() == pytest.approx(7000)
    assert sent.sum(axis=1) == pytest.approx(np.full(8, 7000 / 8))


def test_a_whole_number_beyond_the_range_of_an_index_is_a_size() -> None:
    sent = of_one_call("allgather", 4, 2**63)[0]
    assert sent.sum() == pytest.approx(12 * 2.0**63)


def test_an_unknown_mpi_is_taken_for_mpich() -> None:
    call = Call(16, 1 << 20)
    assert algorithm_of("bcast", call, None) is ALGORITHMS["bcast"]["scatter and ring"]
    assert algorithm_of("ibcast", call, {"not": "a name"}) is algorithm_of("bcast", call)


def test_calls_are_counted_once_for_all_ranks() -> None:
    once = expected_messages([CollectiveCall("bcast", 4, 10, 4, 0.0, 0, 0)], [np.arange(4)], 4)
    often = expected_messages([CollectiveCall("bcast", 4, 10, 400, 0.0, 0, 0)], [np.arange(4)], 4)
    for one, many in zip(once, often, strict=True):
        assert np.array_equal(100 * one.toarray(), many.toarray())


@pytest.mark.parametrize(
    "call",
    [
        CollectiveCall("alltoall", 4, 10, 4, 0.0, None, 0),
        CollectiveCall("neighbor_allgather", 4, 10, 4, 0.0, None, 0),
        CollectiveCall("allreduce", 4, 10, 4, 0.0),
        CollectiveCall("allreduce", 1, 10, 4, 0.0, None, 1),
    ],
    ids=["exchange", "neighbours", "unknown ranks", "alone"],
)
def test_nothing_is_expected_of(call: CollectiveCall) -> None:
    communicators = [np.arange(4), np.array([2])]
    assert all(matrix.nnz == 0 for matrix in expected_messages([call], communicators, 4))


def test_a_placement_carries_what_was_counted_and_what_is_expected() -> None:
    sent = np.zeros((4, 4))
    sent[0, 3] = 7
    call = CollectiveCall("allgather", 2, 100, 2, 0.0, None, 0)
    traffic = Traffic(sent, sent, collectives=[call], communicators=[np.array([3, 1])])
    wanted = sent.copy()
    wanted[3, 1] = wanted[1, 3] = 100
    assert np.array_equal(traffic.carried.bytes.toarray(), wanted)
    assert np.array_equal(traffic.total.bytes.toarray(), sent)
    assert np.array_equal(traffic.carried.carried.bytes.toarray(), wanted)


def test_the_usual_message_is_the_one_in_which_most_bytes_go() -> None:
    """A thousand barriers and short reductions and two long exchanges."""
    nothing = np.zeros((4, 4))
    calls = [
        CollectiveCall("barrier", 4, 0, 4000, 0.0, None, 0),
        CollectiveCall("allreduce", 4, 8, 4000, 0.0, None, 0),
        CollectiveCall("alltoall", 4, 4_000_000, 8, 0.0, None, 0),
    ]
    exchange = 2e6 * (1 - np.eye(4))
    traffic = Traffic(
        nothing,
        nothing,
        exchange_bytes=exchange,
        exchange_messages=exchange > 0,
        collectives=calls,
        communicators=[np.arange(4)],
    )
    assert traffic.usual_message_bytes == pytest.approx(1e6, rel=0.01)
    assert num_steps_of(traffic) == pytest.approx(2, rel=0.02)


def test_messages_of_one_size_are_usual_themselves() -> None:
    sent = np.zeros((3, 3))
    sent[0, 1], sent[1, 2] = 10, 4
    traffic = Traffic(100 * sent, sent)
    assert traffic.usual_message_bytes == 100
    assert num_steps_of(traffic) == 10
    exchange = Traffic(
        0 * sent, 0 * sent, exchange_bytes=300 * sent, exchange_messages=sent
    )  # of neighbourhood collectives, whose sizes no table has
    assert exchange.usual_message_bytes == 300
    assert num_steps_of(exchange) == 10
    assert Traffic(0 * sent, 0 * sent).usual_message_bytes == 0
    assert num_steps_of(Traffic(0 * sent, sent)) == 1


def test_a_short_alltoall_does_not_hide_what_neighbours_exchange() -> None:
    """Programs first exchange how much will come."""
    nothing = np.zeros((4, 4))
    others = 1 - np.eye(4)
    traffic = Traffic(
        nothing,
        nothing,
        exchange_bytes=4 * others + 1e9 * others,
        exchange_messages=others + 1000 * others,
        collectives=[CollectiveCall("alltoall", 4, 16, 4, 0.0, None, 0)],
        communicators=[np.arange(4)],
    )
    assert traffic.usual_message_bytes == pytest.approx(1e6)


def test_an_alltoallv_to_one_other_has_long_messages() -> None:
    """The table has what a rank passes to the call, not how many others get a part of it."""
    nothing, one = np.zeros((8, 8)), np.roll(np.eye(8), 1, axis=1)
    traffic = Traffic(
        nothing,
        nothing,
        exchange_bytes=1e9 * one,
        exchange_messages=1000 * one,
        collectives=[CollectiveCall("alltoallv", 8, 1_000_000, 8000, 0.0, None, 0)],
        communicators=[np.arange(8)],
    )
    assert traffic.usual_message_bytes == 1e6
    assert num_steps_of(traffic) == 1000


def test_less_than_a_byte_a_message_is_no_step_of_its_own() -> None:
    sent = np.ones((2, 2)) - np.eye(2)
    assert num_steps_of(Traffic(sent, 1e9 * sent)) == 1
