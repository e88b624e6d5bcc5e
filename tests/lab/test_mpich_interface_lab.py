# SPDX-License-Identifier: Apache-2.0
"""Whole runs by MPIs that share MPICH's binary interface: one program, one part, two launchers.

The program and the part of Fairlead are built with Intel MPI, and run under Intel MPI and under
MPICH. Two racks of two hosts in hidden order; the ranks that exchange messages are in
different racks when hosts are filled in their order.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

VENV = Path(sys.executable).parent.parent
INTEL_MPI, MPICH = VENV / "intel-mpi", VENV / "mpich"

# Rank r talks to rank r + 4 only.
PAIRS = """
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static char out[20000], in[20000];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, length;
  char host[256], library[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_library_version(library, &length);
  gethostname(host, sizeof host);
  const int peer = (rank + size / 2) % size;
  for (int i = 0; i < 200; ++i)
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, peer, 0, in, sizeof in, MPI_CHAR, peer, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d on %s by %.9s\\n", rank, host, library);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "pairs.c").write_text(PAIRS)
    subprocess.run(
        [INTEL_MPI / "bin" / "mpicc", folder / "pairs.c", "-o", folder / "pairs"],
        env={**os.environ, "I_MPI_ROOT": str(INTEL_MPI)},
        check=True,
    )
    return str(folder / "pairs")


@pytest.mark.parametrize(
    ("mpi", "library"),
    [(INTEL_MPI, "Intel(R)"), (MPICH, "MPICH")],
    ids=["intel-mpi", "mpich"],
)
def test_program_is_traced_then_placed_on_the_measured_network(
    mpi: Path, library: str, lab: Lab, pairs: str, tmp_path: Path
) -> None:
    env = {
        **os.environ,
        **{name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")},
        "FAIRLEAD_MPIRUN": str(mpi / "bin" / "mpiexec.hydra"),
        # As a module of the MPI sets it; by itself the program loads Intel MPI's.
        "LD_LIBRARY_PATH": str(mpi / "lib"),
    }

    def run() -> dict[str, str]:
        done = lab.run(
            [sys.executable, "-m", "fairlead", "run", "-n", "8", "--hostfile", str(lab.hostfile),
             "--", pairs],
            env=env, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = re.findall(r"rank (\d+) on (\S+) by (\S+)", done.stdout)
        assert sorted(int(rank) for rank, _, _ in found) == [*range(8)]
        assert all(each.startswith(library) for _, _, each in found), found
        return {rank: host for rank, host, _ in found}

    first, second = run(), run()

    assert first["0"] != first["4"]
    assert all(second[str(rank)] == second[str(rank + 4)] for rank in range(4))
