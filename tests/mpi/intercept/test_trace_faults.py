# SPDX-License-Identifier: Apache-2.0
"""Programs that do what wrappers must survive: callbacks, jumps out of calls, null pointers."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tracing import MPIS, TracedMpi

from fairlead.act.launch import detect
from fairlead.act.plan.reorder import write_reorder_plan
from fairlead.model.network import Network

pytestmark = [pytest.mark.mpi]


def rotated_traffic(num_ranks: int) -> np.ndarray:
    """What last_messages sends: in turn t world rank w is rank (w + t) % num_ranks."""
    sent = np.zeros((num_ranks, num_ranks))
    for turn in range(2 * num_ranks):
        world_rank = [(rank - turn) % num_ranks for rank in range(num_ranks)]
        sent[world_rank[0], world_rank[1]] += 1
        for rank in range(num_ranks):
            sent[world_rank[rank], world_rank[(rank + 1) % num_ranks]] += 100
    return sent


def test_a_delete_callback_may_send_by_the_communicator_that_dies(mpi: TracedMpi) -> None:
    traffic = mpi.trace(4, mpi.build("corners.c"), "last_messages")

    np.testing.assert_array_equal(traffic.bytes.toarray(), rotated_traffic(4))


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_a_delete_callback_in_fortran_may_send_too(name: str) -> None:
    mpi = MPIS[name]

    traffic = mpi.trace(4, mpi.build("last_messages.F90"))

    np.testing.assert_array_equal(traffic.bytes.toarray(), rotated_traffic(4))


def test_so_it_may_by_an_intercommunicator(mpi: TracedMpi) -> None:
    traffic = mpi.trace(4, mpi.build("corners.c"), "last_messages_between_groups")

    # The halves are {0, 2} and {1, 3} in two turns, {0, 1} and {2, 3} in the others.
    expected = np.zeros((4, 4))
    for one, other in [(0, 1), (2, 3), (0, 2), (1, 3)]:
        expected[one, other] += 200
        expected[other, one] += 200
    np.testing.assert_array_equal(traffic.bytes.toarray(), expected)


WAYS = ["exception", "longjmp", "pthread_exit", "pthread_cancel"]
NUM_CALLS_LEFT = 5


@pytest.mark.parametrize("way", WAYS)
def test_a_call_may_be_left_by_its_error_handler(mpi: TracedMpi, way: str) -> None:
    traffic = mpi.trace(2, mpi.build("leaving.cpp"), way)

    ring = np.roll(np.eye(2), 1, axis=1)
    np.testing.assert_array_equal(traffic.bytes.toarray(), 10 * NUM_CALLS_LEFT * ring)


@pytest.mark.parametrize("way", WAYS)
def test_so_it_may_where_topologies_are_reordered(mpi: TracedMpi, way: str, tmp_path: Path) -> None:
    write_reorder_plan(tmp_path, Network([platform.node()], np.zeros((1, 1)), np.full((1, 1), 1e9)))

    traffic = mpi.trace(2, mpi.build("leaving.cpp"), way, FAIRLEAD_PLAN=str(tmp_path))

    assert traffic.bytes.sum() == 2 * 10 * NUM_CALLS_LEFT


@pytest.mark.parametrize("way", ["exception", "longjmp", "pthread_exit", "code"])
def test_an_agreement_on_roles_may_be_left_by_the_error_handler(
    mpi: TracedMpi, way: str, tmp_path: Path
) -> None:
    write_reorder_plan(tmp_path, Network([platform.node()], np.zeros((1, 1)), np.full((1, 1), 1e9)))

    ran = mpi.run_preloaded(
        2, tmp_path / "trace", mpi.build("disagreeing.cpp"), way, FAIRLEAD_PLAN=str(tmp_path)
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "errors: 1\n"


def test_pointers_to_no_handle_are_answered_by_the_mpi(mpi: TracedMpi, tmp_path: Path) -> None:
    program = mpi.build("null_handles.c")
    launcher = detect(mpi.mpirun)
    plain = subprocess.run(
        launcher.prepare_command(mpi.spec(1, program), tmp_path),
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    traced = mpi.run_preloaded(1, tmp_path / "trace", program)

    assert traced.returncode == 0, traced.stderr
    assert "MPI_Request_free(NULL): error" in plain.stdout
    assert traced.stdout == plain.stdout
