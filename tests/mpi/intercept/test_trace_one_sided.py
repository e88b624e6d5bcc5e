# SPDX-License-Identifier: Apache-2.0
"""One-sided calls are counted by the direction in which the data go, in world ranks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from tracing import MPIS, TracedMpi

import fairlead as fl
from fairlead.model.traffic import Traffic

pytestmark = [pytest.mark.mpi]


class Transfers(NamedTuple):
    """The sizes of what one rank gives to its target and gets from it."""

    to_target: list[int]
    from_target: list[int]


# Counted by hand from the calls of one_sided.c: put, get, accumulate, get_accumulate and the same
# without an operation, fetch_and_op and the same without an operation, compare_and_swap.
CALLS = {
    "without_requests": Transfers([24, 16, 8, 8, 4], [20, 8, 32, 8, 8, 4]),
    "with_requests": Transfers([12, 4, 16], [40, 16]),
    "nothing": Transfers([], []),
}
LARGE_COUNTS = Transfers([40], [48])


@pytest.fixture(scope="module")
def one_sided(mpi: TracedMpi) -> Path:
    return mpi.build("one_sided.c")


def ring_down(num_ranks: int) -> npt.NDArray[np.float64]:
    """[origin, target]: in a window of the reversed ranks the next rank is the one below."""
    return np.roll(np.eye(num_ranks), -1, axis=1)


def assert_transfers(traffic: Traffic, expected: Transfers) -> None:
    to_target = ring_down(traffic.num_ranks)
    from_target = to_target.T
    for found, measure in [
        (traffic.bytes, sum),
        (traffic.messages, len),
    ]:
        there, back = measure(expected.to_target), measure(expected.from_target)
        np.testing.assert_array_equal(found.toarray(), there * to_target + back * from_target)
    largest = np.maximum(
        max(expected.to_target, default=0) * to_target,
        max(expected.from_target, default=0) * from_target,
    )
    assert traffic.max_message_bytes is not None
    np.testing.assert_array_equal(traffic.max_message_bytes.toarray(), largest)


# Open MPI 4.1.4 itself makes no window over a single rank.
@pytest.mark.parametrize("num_ranks", [2, 3, 5])
@pytest.mark.parametrize("calls", sorted(CALLS))
def test_every_call_is_counted_in_its_directions(
    mpi: TracedMpi, one_sided: Path, calls: str, num_ranks: int
) -> None:
    assert_transfers(mpi.trace(num_ranks, one_sided, "create", calls), CALLS[calls])


@pytest.mark.parametrize("kind", ["allocate", "dynamic", "shared"])
def test_windows_of_all_kinds_are_counted(mpi: TracedMpi, one_sided: Path, kind: str) -> None:
    traffic = mpi.trace(3, one_sided, kind, "without_requests")

    assert_transfers(traffic, CALLS["without_requests"])
    # Loads and stores are no calls.
    assert traffic.untraced.shared_windows == (1 if kind == "shared" else 0)


@pytest.mark.parametrize(
    "mpi", [name for name, each in MPIS.items() if each.has_large_counts], indirect=True
)
def test_large_counts_are_counted(mpi: TracedMpi, one_sided: Path) -> None:
    assert_transfers(mpi.trace(3, one_sided, "create", "large_counts"), LARGE_COUNTS)


def test_a_handle_that_comes_back_means_the_new_window(mpi: TracedMpi, one_sided: Path) -> None:
    traffic = mpi.trace(3, one_sided, "reused_handles")

    expected = np.zeros((3, 3))
    for turn in range(6):
        world_rank = [(rank - turn) % 3 for rank in range(3)]
        expected[world_rank[0], world_rank[1]] += turn + 1
    np.testing.assert_array_equal(traffic.bytes.toarray(), expected)


def test_ranks_are_placed_by_it(mpi: TracedMpi, one_sided: Path) -> None:
    traffic = mpi.trace(2, one_sided, "create", "with_requests")

    # Two ranks that only call MPI_Put and its like belong on one of three hosts with two slots.
    far = ~np.eye(3, dtype=bool)
    network = fl.Network(["a", "b", "c"], np.where(far, 1e-3, 1e-6), np.where(far, 1e6, 1e9))
    placement = fl.place(traffic, network, fl.Cluster(["a", "b", "c"], [1, 2, 1]))
    assert len(set(placement.host_of_rank)) == 1
