# SPDX-License-Identifier: Apache-2.0
"""Where ranks differ in the library, the variables or the MPI, the program runs as without us."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tracing import MPIS, PROGRAMS, TracedMpi

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.measure.trace import trace
from fairlead.model.cluster import Cluster

pytestmark = [pytest.mark.mpi]

WITHOUT_ON_RANK = PROGRAMS / "without-on-rank.sh"
LIBRARY = "LD_PRELOAD"
# Ranks that are worlds of their own each make Open MPI's session directory: two at once would fail.
IN_OWN_DIRECTORY = ("sh", "-c", 'TMPDIR=$(mktemp -d) exec "$@"', "sh")


def run(
    mpi: TracedMpi, num_ranks: int, *program: Path | str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a program under the library of this MPI, with these variables."""
    launcher = detect(mpi.mpirun)
    spec = mpi.spec(num_ranks, *program, LD_PRELOAD=str(find(launcher).intercept), **env)
    command = launcher.prepare_command(spec, Path("/nonexistent"))
    return subprocess.run(command, capture_output=True, text=True, check=False)


def said_by_us(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("fairlead: ")]


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("missing", [LIBRARY, "FAIRLEAD_TRACE"])
def test_one_rank_without_it_leaves_the_program_untraced_and_whole(
    mpi: TracedMpi, tmp_path: Path, missing: str, rank: int
) -> None:
    program = (mpi.build("corners.c"), "nonblocking_collectives")
    file = tmp_path / "trace"

    done = run(mpi, 3, WITHOUT_ON_RANK, str(rank), missing, *program, FAIRLEAD_TRACE=str(file))

    assert done.returncode == 0, done.stderr
    what = "Fairlead's library" if missing == LIBRARY else missing
    problem = f"fairlead: tracing is switched off: rank {rank} runs without {what}"
    # Rank 0 speaks for all; where it is the one, each of the others does.
    assert said_by_us(done) == [problem] * (2 if rank == 0 else 1)
    assert not file.exists()


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_so_it_does_in_fortran(name: str, tmp_path: Path) -> None:
    mpi = MPIS[name]
    program = mpi.build("twin.F90", "-DBINDING=2")
    file = tmp_path / "trace"

    done = run(mpi, 3, WITHOUT_ON_RANK, "1", "FAIRLEAD_TRACE", program, FAIRLEAD_TRACE=str(file))

    assert done.returncode == 0, done.stderr
    assert said_by_us(done) == [
        "fairlead: tracing is switched off: rank 1 runs without FAIRLEAD_TRACE"
    ]


def test_each_feature_is_agreed_on_by_itself(mpi: TracedMpi, tmp_path: Path) -> None:
    program = (mpi.build("corners.c"), "nonblocking_collectives")
    file = tmp_path / "trace"
    env = {"FAIRLEAD_TRACE": str(file), "FAIRLEAD_PLAN": str(tmp_path / "no-plan")}

    done = run(mpi, 3, WITHOUT_ON_RANK, "1", "FAIRLEAD_PLAN", *program, **env)

    assert done.returncode == 0, done.stderr
    assert said_by_us(done) == [
        "fairlead: the plan is switched off: rank 1 runs without FAIRLEAD_PLAN"
    ]
    assert file.exists()


def test_a_user_may_answer_for_all_ranks(mpi: TracedMpi) -> None:
    program = (mpi.build("corners.c"), "derived_type")

    assert mpi.trace(3, *program, FAIRLEAD_EVERY_RANK="1").num_ranks == 3


@pytest.mark.usefixtures("invented_hosts")
def test_the_ranks_find_each_other_across_hosts(mpi: TracedMpi) -> None:
    launcher = detect(mpi.mpirun)
    spec = dataclasses.replace(
        # On one machine the segments of shared memory of two hosts have the same names.
        mpi.spec(4, mpi.build("corners.c"), "derived_type", OMPI_MCA_btl="tcp,self"),
        cluster=Cluster.uniform(["h0", "h1"], slots=2),
    )

    assert trace(launcher, spec).traffic.num_ranks == 4


# The program's MPI is not the one whose launcher started it: every rank is a world of its own.
PAIRS = [("openmpi-4", "mpich-4"), ("mpich-4", "openmpi-4"), ("openmpi-5", "mpich-4")]


@pytest.mark.parametrize(("launcher_name", "program_name"), PAIRS)
@pytest.mark.parametrize("source", ["twin.c", "twin.F90"])
def test_a_program_of_another_mpi_runs_untraced(
    launcher_name: str, program_name: str, source: str, tmp_path: Path
) -> None:
    program = MPIS[program_name].build(source, "-DBINDING=2")
    file = tmp_path / "trace"

    mpi = MPIS[launcher_name]
    done = run(mpi, 2, *IN_OWN_DIRECTORY, program, FAIRLEAD_TRACE=str(file))

    assert done.returncode == 0, done.stderr
    title = "MPICH" if launcher_name == "mpich-4" else "Open MPI"
    assert [line.split(",")[0] for line in said_by_us(done)] == 2 * [
        f"fairlead: tracing is switched off: this program is not linked with {title}"
    ]
    assert not file.exists()


@pytest.mark.parametrize(("launcher_name", "program_name"), PAIRS)
def test_so_it_does_where_it_loads_its_mpi_later(
    launcher_name: str, program_name: str, tmp_path: Path
) -> None:
    module = MPIS[program_name].build("corners.c", "-shared", "-fPIC")
    main = (
        "import ctypes, sys; words = [b'corners', b'derived_type'];"
        "exit(ctypes.CDLL(sys.argv[1]).main(2, (ctypes.c_char_p * 3)(*words, None)))"
    )

    done = run(MPIS[launcher_name], 1, sys.executable, "-c", main, str(module),
               FAIRLEAD_TRACE=str(tmp_path / "trace"))  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert len(said_by_us(done)) == 1


@pytest.mark.parametrize(("launcher_name", "program_name"), PAIRS)
def test_a_helper_of_another_mpi_does_not_disturb_the_trace(
    launcher_name: str, program_name: str
) -> None:
    helper = MPIS[program_name].build("corners.c")
    mpi = MPIS[launcher_name]
    program = mpi.build("corners.c")

    # Two that Open MPI 4 starts alone at the same moment fail where both make its folder.
    alone = f"TMPDIR=$(mktemp -d) {helper} derived_type"
    traffic = mpi.trace(2, "sh", "-c", f"{alone} && exec {program} derived_type")

    np.testing.assert_array_equal(traffic.bytes.toarray(), np.diag([96, 96]))
