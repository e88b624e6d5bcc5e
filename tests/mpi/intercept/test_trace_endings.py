# SPDX-License-Identifier: Apache-2.0
"""However a traced program ends, what its ranks sent until then is in the file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launchers import wait_until
from tracing import TracedMpi

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.errors import InputError
from fairlead.measure.trace_shares import read_shares
from fairlead.model.coverage import Coverage
from fairlead.model.traffic import Traffic

pytestmark = [pytest.mark.mpi]

RANKS = 2
RING = 1000 * np.roll(np.eye(RANKS), 1, axis=1)
FILE = "endings.traffic.npz"


class Traced:
    """`fairlead trace` of a program that ends in some way."""

    def __init__(self, mpi: TracedMpi, folder: Path, way: str, **env: str) -> None:
        self.folder, self.pids = folder, folder / "pids"
        self.pids.mkdir()
        program = [str(mpi.build("endings.c")), str(self.pids), way]
        options = [f"--launcher-args={' '.join(mpi.launcher_args)}"] if mpi.launcher_args else []
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "fairlead", "trace", "-n", str(RANKS)),
                *("--mpirun", mpi.mpirun, *options, "-o", FILE, "--", *program),
            ],
            cwd=folder,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for_messages(self) -> list[int]:
        """Process ids of the ranks, when all have sent theirs."""
        files = [self.pids / str(rank) for rank in range(RANKS)]
        wait_until(lambda: all(file.exists() for file in files) or self.process.poll() is not None)
        return [int(file.read_text()) for file in files]

    def has_shares(self) -> bool:
        """Whether all that was sent is in shares."""
        try:
            return float(read_shares(self.folder / f"{FILE}.shares").bytes.sum()) == RING.sum()
        except InputError:
            return False

    def end(self) -> tuple[int, str]:
        """Exit code and error output."""
        _, errors = self.process.communicate()
        return self.process.returncode, errors

    def traffic(self) -> Traffic:
        """What is in the file; nothing else is left."""
        assert sorted(path.name for path in self.folder.iterdir()) == [FILE, "pids"]
        return Traffic.load(self.folder / FILE)


def require_partial(traffic: Traffic, errors: str) -> None:
    np.testing.assert_array_equal(traffic.bytes.toarray(), RING)
    assert require_coverage(traffic, errors).missing == ()


def require_coverage(traffic: Traffic, errors: str) -> Coverage:
    coverage = Coverage.of_origin(traffic.origin, RANKS)
    assert coverage is not None
    assert f"fairlead: {FILE}: the trace is {coverage.line()}\n" in errors
    return coverage


def test_a_program_that_exits_before_finalize_leaves_what_it_sent(
    mpi: TracedMpi, tmp_path: Path
) -> None:
    traced = Traced(mpi, tmp_path, "exit")

    returncode, errors = traced.end()

    assert returncode == 3, errors
    traffic = traced.traffic()
    # When one rank has exited, MPICH ends the other by SIGKILL, before it exits or after.
    assert (traffic.bytes.toarray() == RING).all(axis=1).any()
    require_coverage(traffic, errors)


def test_so_does_one_that_aborts(mpi: TracedMpi, tmp_path: Path) -> None:
    # MPICH ends the other ranks by SIGKILL: they have their last share.
    traced = Traced(mpi, tmp_path, "abort", FAIRLEAD_SHARE_INTERVAL="0.02")
    traced.wait_for_messages()
    wait_until(traced.has_shares)

    (traced.pids / "go").touch()

    returncode, errors = traced.end()
    assert returncode == 5, errors
    require_partial(traced.traffic(), errors)


def test_so_does_one_that_its_scheduler_ends(mpi: TracedMpi, tmp_path: Path) -> None:
    # Open MPI 4 sends SIGKILL a second after SIGTERM, which is too early where the machine is busy,
    # Open MPI 5 and Hydra when the first rank has ended.
    traced = Traced(mpi, tmp_path, "sleep", OMPI_MCA_odls_base_sigkill_timeout="4")
    traced.wait_for_messages()

    traced.process.send_signal(signal.SIGTERM)

    # Hydra itself ends with 15 or with 0.
    _, errors = traced.end()
    traffic = traced.traffic()
    has_whole_row = (traffic.bytes.toarray() == RING).all(axis=1)
    assert has_whole_row.all()
    require_coverage(traffic, errors)


def test_of_ranks_that_are_killed_the_last_share_counts(mpi: TracedMpi, tmp_path: Path) -> None:
    traced = Traced(mpi, tmp_path, "sleep", FAIRLEAD_SHARE_INTERVAL="0.02")
    pids = traced.wait_for_messages()
    wait_until(traced.has_shares)

    for pid in pids:
        # The launcher ends the others once it sees that the first one is gone.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    returncode, errors = traced.end()
    assert returncode != 0
    require_partial(traced.traffic(), errors)


def test_a_program_keeps_its_own_handler(mpi: TracedMpi, tmp_path: Path) -> None:
    traced = Traced(mpi, tmp_path, "handler")

    for pid in traced.wait_for_messages():
        os.kill(pid, signal.SIGTERM)

    output, errors = traced.process.communicate()
    assert traced.process.returncode == 0, errors
    # Lines of two ranks that print at once may mix.
    assert output.count("handled") == RANKS
    traffic = traced.traffic()
    np.testing.assert_array_equal(traffic.bytes.toarray(), RING)
    assert Coverage.of_origin(traffic.origin, RANKS) is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_rank_as_it_would_alone(
    openmpi: TracedMpi, tmp_path: Path, number: signal.Signals
) -> None:
    library = find(detect(openmpi.mpirun)).intercept
    # A Python that is the parent ignores some of them, and a shell may, too.
    defaults = ["env", "--default-signal"]
    program = subprocess.Popen(
        [*defaults, openmpi.build("endings.c"), str(tmp_path), "sleep"],
        env={**os.environ, "LD_PRELOAD": str(library), "FAIRLEAD_SHARES": str(tmp_path)},
    )
    wait_until((tmp_path / "0").exists)

    program.send_signal(number)

    assert program.wait() == -number
    assert read_shares(tmp_path).bytes.toarray().tolist() == [[1000]]


def test_shares_alone_need_no_agreement(mpi: TracedMpi, tmp_path: Path) -> None:
    shares = tmp_path / "shares"
    shares.mkdir()
    launcher = detect(mpi.mpirun)
    program = (mpi.build("corners.c"), "derived_type")
    library = str(find(launcher).intercept)
    spec = mpi.spec(3, *program, LD_PRELOAD=library, FAIRLEAD_SHARES=str(shares))

    done = subprocess.run(
        launcher.prepare_command(spec, tmp_path), capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    traffic, gathered = read_shares(shares), mpi.trace(3, *program)
    assert Coverage.of_origin(traffic.origin, 3) is None
    np.testing.assert_array_equal(traffic.bytes.toarray(), gathered.bytes.toarray())
    assert [call[:4] for call in traffic.collectives] == [c[:4] for c in gathered.collectives]


def test_a_host_that_does_not_see_the_folder_says_so_and_hands_in_at_the_end(
    mpi: TracedMpi, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    file = tmp_path / "trace"
    program = (mpi.build("corners.c"), "derived_type")

    done = mpi.run_preloaded(3, file, *program, FAIRLEAD_SHARES=str(gone))

    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("fairlead: ")]
    assert f"cannot write their shares of the trace into {gone}: No such file" in line
    assert file.exists()
