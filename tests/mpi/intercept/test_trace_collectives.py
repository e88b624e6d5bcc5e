# SPDX-License-Identifier: Apache-2.0
"""Collectives go to their own table, exchanges to their own matrix, neither to the messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tracing import TracedMpi

from fairlead.model.traffic import Traffic

pytestmark = [pytest.mark.mpi]

INT_BYTES = 4


@pytest.fixture(scope="module")
def program(mpi: TracedMpi) -> Path:
    return mpi.build("exchanges.c")


@pytest.fixture(scope="module")
def of_three(mpi: TracedMpi, program: Path) -> Traffic:
    return mpi.trace(3, program)


def expected_exchange(n: int, has_persistent: bool) -> tuple[npt.NDArray[np.float64], ...]:
    """Bytes and messages that exchanges.c hands from rank to rank, as its comments say."""
    size_bytes = np.zeros((n, n))
    messages = np.zeros((n, n))

    def add(src: int, dst: int, num_ints: int, times: int = 1) -> None:
        size_bytes[src, dst] += num_ints * INT_BYTES * times
        messages[src, dst] += times

    for src in range(n):
        for dst in range(n):
            if src == dst:
                continue  # the own part of an alltoall does not leave the rank
            add(src, dst, 1)
            add(src, dst, (src + 1) * (dst + 1), times=2)
            add(src, dst, 17, times=3 if has_persistent else 0)
        for dst in (src - 1, src + 1):
            if 0 <= dst < n:
                for num_ints in (12, 13, 14):
                    add(src, dst, num_ints)
        add(src, (src + 1) % n, 15)
        add(src, (src + 1) % n, 16)
    return size_bytes, messages


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 8])
def test_exchanges_are_known_per_pair(mpi: TracedMpi, program: Path, num_ranks: int) -> None:
    size_bytes, messages = expected_exchange(num_ranks, mpi.has_mpi4_requests)

    traffic = mpi.trace(num_ranks, program)

    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    np.testing.assert_array_equal(traffic.exchange_bytes.toarray(), size_bytes)
    np.testing.assert_array_equal(traffic.exchange_messages.toarray(), messages)


def test_collectives_are_no_messages(of_three: Traffic) -> None:
    assert of_three.messages.sum() == 0


# Operation -> bytes that ranks 0, 1 and 2 hand in (see the definition in CollectiveCall).
EXPECTED_CALLS = {
    "barrier": (0, 0, 0),
    "bcast": (8, 8, 8),
    "gather": (12, 12, 12),
    "gatherv": (4, 8, 12),
    "scatter": (16, 16, 16),
    "scatterv": (4, 8, 12),
    "reduce": (20, 20, 20),
    "allgather": (24, 24, 24),
    "allgatherv": (4, 8, 12),
    "allreduce": (28, 28, 28),
    "scan": (32, 32, 32),
    "exscan": (36, 36, 36),
    "reduce_scatter": (24, 24, 24),
    "reduce_scatter_block": (120, 120, 120),
    "iallreduce": (44, 44, 44),
    "alltoall": (12, 12, 12),
    "alltoallv": (24, 48, 72),
    "alltoallw": (24, 48, 72),
    "neighbor_allgather": (48, 48, 48),
    "neighbor_alltoall": (52, 104, 52),
    "neighbor_alltoallv": (56, 112, 56),
    "neighbor_allgatherv": (60, 60, 60),
    "neighbor_alltoallw": (64, 64, 64),
}


@pytest.mark.parametrize("operation", sorted(EXPECTED_CALLS))
def test_collective_table_has_operation_bytes_and_calls(of_three: Traffic, operation: str) -> None:
    handed_in = EXPECTED_CALLS[operation]
    expected = {(3, size, handed_in.count(size)) for size in handed_in}

    found = [call for call in of_three.collectives if call.operation == operation]

    assert {call[1:4] for call in found} == expected
    assert all(0 <= call.seconds <= 3 * of_three.run_time_s for call in found)


def test_persistent_collectives_count_at_each_start(mpi: TracedMpi, of_three: Traffic) -> None:
    found = [call[1:4] for call in of_three.collectives if call.operation == "alltoall_init"]

    assert found == ([(3, 3 * 17 * INT_BYTES, 9)] if mpi.has_mpi4_requests else [])


def test_nothing_else_is_in_the_table(of_three: Traffic) -> None:
    # MPI_Init, communicator and topology constructors communicate too, below MPI's own interface.
    assert {call.operation for call in of_three.collectives} <= {*EXPECTED_CALLS, "alltoall_init"}


def test_calls_tell_their_root_and_the_ranks_of_their_communicator(mpi: TracedMpi) -> None:
    traffic = mpi.trace(4, mpi.build("communicators.c"))

    def ranks(index: int | None) -> list[int] | None:
        return None if index is None else traffic.communicators[index].tolist()

    found = {
        (call.operation, call.message_bytes, call.calls, call.root, str(ranks(call.communicator)))
        for call in traffic.collectives
    }
    assert found == {
        ("bcast", 4, 2 * 4, 2, "[0, 1, 2, 3]"),
        ("bcast", 4, 4, 3, "[0, 1, 2, 3]"),
        ("reduce", 8, 3 * 2, 1, "[2, 0]"),
        ("reduce", 8, 3 * 2, 1, "[3, 1]"),
        # Between two groups: rank 0 takes, rank 1 is left out, the other two hand in.
        ("gather", 0, 2, None, "None"),
        ("gather", 12, 2, None, "None"),
    }
    assert len(traffic.communicators) == 3
