# SPDX-License-Identifier: Apache-2.0
"""Every kind of send is counted once, at the sender, in world ranks, whatever the language."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tracing import MPIS, TracedMpi

from fairlead.model.traffic import Traffic

pytestmark = [pytest.mark.mpi]

FORTRAN_BINDINGS = {"mpif.h": 1, "use mpi": 2, "use mpi_f08": 3}


@pytest.fixture(scope="module")
def sends(mpi: TracedMpi) -> Path:
    return mpi.build("sends.c")


def groups_of(num_ranks: int) -> list[list[int]]:
    """World ranks of world, its duplicate, and the split by parity with reversed order."""
    world = list(range(num_ranks))
    return [world, world, world[::2][::-1], world[1::2][::-1]]


def expected_of_sends(num_ranks: int, num_kinds: int) -> dict[str, npt.NDArray[np.float64]]:
    expected = {name: np.zeros((num_ranks, num_ranks)) for name in ("bytes", "messages", "largest")}
    for group in groups_of(num_ranks):
        for index, src in enumerate(group):
            for kind in range(num_kinds):
                dst = group[(index + kind + 1) % len(group)]
                starts = 2 if 8 <= kind <= 11 else 1  # persistent ones are started twice
                expected["messages"][src, dst] += starts
                expected["bytes"][src, dst] += starts * 2**kind
                expected["largest"][src, dst] = max(expected["largest"][src, dst], 2**kind)
    return expected


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 8])
def test_every_kind_of_send_is_counted(mpi: TracedMpi, sends: Path, num_ranks: int) -> None:
    expected = expected_of_sends(num_ranks, 17 if mpi.has_mpi4_requests else 14)

    traffic = mpi.trace(num_ranks, sends)

    np.testing.assert_array_equal(traffic.messages.toarray(), expected["messages"])
    np.testing.assert_array_equal(traffic.bytes.toarray(), expected["bytes"])
    assert traffic.max_message_bytes is not None
    np.testing.assert_array_equal(traffic.max_message_bytes.toarray(), expected["largest"])


def matrices(traffic: Traffic) -> list[list[float]]:
    return [
        getattr(traffic, name).toarray().tolist()
        for name in ("bytes", "messages", "max_message_bytes", "exchange_bytes",
                     "exchange_messages", "exchange_max_message_bytes")
    ]  # fmt: skip


@pytest.mark.parametrize("binding", sorted(FORTRAN_BINDINGS))
@pytest.mark.parametrize("mpi_name", ["openmpi-4", "mpich-4"])
def test_fortran_gives_the_matrix_of_its_c_twin(mpi_name: str, binding: str) -> None:
    mpi = MPIS[mpi_name]
    in_c = mpi.build("twin.c")
    in_fortran = mpi.build("twin.F90", f"-DBINDING={FORTRAN_BINDINGS[binding]}")

    of_c, of_fortran = mpi.trace(3, in_c), mpi.trace(3, in_fortran)

    assert of_c.messages.sum() == 2 * 3 * 12
    assert matrices(of_fortran) == matrices(of_c)
    kinds_of_c = {call[:4] for call in of_c.collectives}
    assert {call[:4] for call in of_fortran.collectives} == kinds_of_c
