# SPDX-License-Identifier: Apache-2.0
"""A program is ended when its beginning has shown its traffic, and started again, placed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lab_processes import processes_named

from fairlead.lab import Lab
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

# Rank r talks to rank r + 4 (modulo 8), step by step. The first time it is started it never ends.
ENDLESS = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static char out[20000], in[20000];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, is_again = 0;
  char host[256];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  if (rank == 0) is_again = access(argv[1], F_OK) == 0;
  if (rank == 0 && !is_again) fclose(fopen(argv[1], "w"));
  MPI_Bcast(&is_again, 1, MPI_INT, 0, MPI_COMM_WORLD);
  printf("rank %d of %d on %s\\n", rank, size, host);
  const int peer = (rank + size / 2) % size;
  for (int i = 0; i < 20 || !is_again; ++i) {
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, peer, 0, in, sizeof in, MPI_CHAR, peer, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(1000);
  }
  MPI_Finalize();
  return 0;
}
"""


def test_the_beginning_of_a_run_is_enough_to_place_it(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "endless.c").write_text(ENDLESS)
    program = str(tmp_path / "endless")
    subprocess.run(["mpicc.openmpi", tmp_path / "endless.c", "-o", program], check=True)
    network = tmp_path / "shaped.net.npz"
    latency_s = np.full((4, 4), 5e-5) - np.diag([5e-5] * 4)
    Network(lab.hosts, latency_s, lab.shaped_Bps()).save(network)  # type: ignore[arg-type]
    folders = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return lab.run(
            [
                *(sys.executable, "-m", "fairlead", "run", "-n", "8", "--network", str(network)),
                *("--hostfile", str(lab.hostfile), *options, "--", program, str(tmp_path / "mark")),
            ],
            env={**os.environ, **folders, "FAIRLEAD_MPIRUN": "mpirun.openmpi"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    first = run("--first", "prefix", "--trace-limit", "10min")
    second = run()

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert ": the traffic is known: its step has come " in first.stderr
    for done in (first, second):
        lines = [line.split() for line in done.stdout.splitlines()]
        hosts = {int(line[1]): line[5] for line in lines}
        assert (len(lines), len(hosts)) == (8, 8)
        assert all(hosts[rank] == hosts[rank + 4] for rank in range(4))
    # The run that followed was traced, too, to its end.
    assert "traffic: now known of a whole run" in first.stderr
    assert "traffic: using the trace of an earlier run with as many ranks\n" in second.stderr
    assert processes_named(program) == []
