# SPDX-License-Identifier: Apache-2.0
"""Corners of MPI that tracing has to get right, and runs that leave no trace."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tracing import MPIS, TracedMpi

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.errors import NoTraceError, TraceError

pytestmark = [pytest.mark.mpi]


@pytest.fixture(scope="module")
def corners(mpi: TracedMpi) -> Path:
    return mpi.build("corners.c")


def test_derived_types_count_their_payload(mpi: TracedMpi, corners: Path) -> None:
    traffic = mpi.trace(2, corners, "derived_type")

    # Four vectors of 24 bytes to oneself, on MPI_COMM_SELF where everyone has rank 0.
    np.testing.assert_array_equal(traffic.bytes.toarray(), np.diag([96, 96]))


def test_empty_messages_count_and_those_to_proc_null_do_not(mpi: TracedMpi, corners: Path) -> None:
    traffic = mpi.trace(3, corners, "proc_null_and_empty")

    ring = np.roll(np.eye(3), 1, axis=1)
    np.testing.assert_array_equal(traffic.messages.toarray(), ring)
    assert traffic.bytes.sum() == 0


def test_intercommunicators_send_to_the_remote_group(mpi: TracedMpi, corners: Path) -> None:
    traffic = mpi.trace(5, corners, "intercommunicator")

    expected = np.zeros((5, 5))
    expected[0, 1] = expected[2, 3] = 10
    np.testing.assert_array_equal(traffic.bytes.toarray(), expected)


def test_a_handle_that_comes_back_means_the_new_communicator(mpi: TracedMpi, corners: Path) -> None:
    traffic = mpi.trace(3, corners, "reused_handles")

    expected = np.zeros((3, 3))
    for turn in range(6):
        expected[turn % 3, (turn + 1) % 3] += turn + 1
    np.testing.assert_array_equal(traffic.bytes.toarray(), expected)


def test_other_programs_are_left_alone(mpi: TracedMpi, corners: Path) -> None:
    assert mpi.trace(2, corners, "other_programs").num_ranks == 2


def test_the_table_of_collectives_stays_bounded(mpi: TracedMpi, corners: Path) -> None:
    traffic = mpi.trace(2, corners, "many_sizes")

    calls = [call for call in traffic.collectives if call.operation == "bcast"]
    assert sum(call.calls for call in calls) == 2 * 3000
    assert len(calls) <= 512 + 3  # the rest is rounded up to 1024, 2048, 4096
    assert {call.message_bytes for call in calls} >= {1, 512, 4096}


def test_errors_of_mpi_come_back_and_count_for_nothing(mpi: TracedMpi, corners: Path) -> None:
    traffic = mpi.trace(2, corners, "returned_errors")

    assert traffic.messages.sum() == 0
    assert "bcast" not in {call.operation for call in traffic.collectives}


def test_large_counts_are_traced(corners: Path, mpi: TracedMpi) -> None:
    traffic = mpi.trace(2, corners, "large_counts")

    sent = 3000 if mpi.has_large_counts else 0
    np.testing.assert_array_equal(traffic.bytes.toarray(), np.diag([sent, sent]))
    operations = {call[:4] for call in traffic.collectives}
    assert operations == ({("allreduce", 2, 24, 2)} if mpi.has_large_counts else set())


# Debian's MPICH refuses MPI_Comm_spawn, traced or not.
@pytest.mark.parametrize("name", ["openmpi-4", "openmpi-5"])
def test_messages_out_of_the_world_are_not_lost(name: str) -> None:
    mpi = MPIS[name]

    traffic = mpi.trace(1, mpi.build("corners.c"), "spawned_processes")

    assert traffic.num_ranks == 1
    assert traffic.messages.sum() == 0
    assert traffic.untraced.messages == 2
    assert traffic.untraced.bytes == 10
    assert traffic.untraced.spawned_processes == 2


def test_threads_count_each_message_once(mpi: TracedMpi) -> None:
    traffic = mpi.trace(2, mpi.build("threads.cpp"))

    ring = np.roll(np.eye(2), 1, axis=1)
    np.testing.assert_array_equal(traffic.messages.toarray(), ring * 2 * 3 * 20)
    np.testing.assert_array_equal(traffic.bytes.toarray(), ring * 2 * 20 * (1 + 2 + 3))


@pytest.mark.parametrize("corner", ["no_mpi", "no_finalize"])
def test_a_run_without_trace_is_an_error(mpi: TracedMpi, corners: Path, corner: str) -> None:
    with pytest.raises(TraceError) as error:
        mpi.trace(2, corners, corner)

    # Open MPI itself turns a missing MPI_Finalize into a failure of the run.
    assert str(corners) in str(error.value)
    assert "left no trace" in str(error.value) or "failed in the traced run" in str(error.value)


def reason_for_no_trace(mpi: TracedMpi, *program: Path | str) -> str:
    """What is reported of a run that succeeds without a trace."""
    with pytest.raises(NoTraceError) as error:
        mpi.trace(2, *program)
    return str(error.value).partition(": the traced run left no trace: ")[2]


@pytest.mark.parametrize(
    "mpi", [name for name, each in MPIS.items() if each.has_mpi4_requests], indirect=True
)
def test_a_program_with_sessions_alone_gets_a_warning(mpi: TracedMpi) -> None:
    reason = reason_for_no_trace(mpi, mpi.build("sessions.c"))

    assert reason == "the program uses MPI sessions without MPI_Init, which are not traced"


def test_a_program_that_calls_by_the_handle_of_a_library_gets_a_warning(
    mpi: TracedMpi, tmp_path: Path
) -> None:
    # As Julia's MPI.jl does.
    (library,) = {
        path
        for path in _libraries_of(find(detect(mpi.mpirun)).probe)
        if re.search(r"/lib(mpi|mpich)\.so", path)
    }

    words = (mpi.build("by_handle.c", "-Wl,--as-needed"), library)

    reason = reason_for_no_trace(mpi, *words)
    done = mpi.run_preloaded(2, tmp_path / "trace", *words)

    assert reason.startswith("the program calls functions of an MPI library that it has loaded by")
    lines = [line for line in done.stderr.splitlines() if line.startswith("fairlead")]
    assert lines == [f"fairlead: no trace was written: {reason}"]


def _libraries_of(program: Path) -> set[str]:
    done = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True)
    return set(re.findall(r"=> (/\S+)", done.stdout))


def test_a_failing_program_is_an_error(mpi: TracedMpi, corners: Path) -> None:
    with pytest.raises(TraceError, match="failed in the traced run with exit code"):
        mpi.trace(2, corners, "exit_code")


def test_a_missing_program_is_an_error(mpi: TracedMpi, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"gone: no such program; nothing was started"):
        mpi.trace(2, tmp_path / "gone")


def test_a_trace_that_cannot_be_written_leaves_the_program_alone(
    mpi: TracedMpi, corners: Path, tmp_path: Path
) -> None:
    file = tmp_path / "no-such-folder" / "trace"
    file.parent.mkdir()
    file.parent.chmod(0o755)
    blocked = file.parent / "trace"
    blocked.mkdir()  # a folder cannot be replaced by a file

    done = mpi.run_preloaded(2, blocked, corners, "derived_type")

    assert done.returncode == 0
    said = [line for line in done.stderr.splitlines() if line.startswith("fairlead: ")]
    assert said == [f"fairlead: {blocked}: the trace cannot be written: Is a directory"]
    assert list(file.parent.iterdir()) == [blocked]


def test_nothing_is_written_without_the_variable(
    mpi: TracedMpi, corners: Path, tmp_path: Path
) -> None:
    library = find(detect(mpi.mpirun)).intercept
    launcher = detect(mpi.mpirun)
    spec = mpi.spec(2, corners, "derived_type", LD_PRELOAD=str(library))

    done = subprocess.run(
        launcher.prepare_command(spec, tmp_path), cwd=tmp_path, capture_output=True, check=False
    )

    assert done.returncode == 0
    assert {path.suffix for path in tmp_path.iterdir()} <= {".txt"}
