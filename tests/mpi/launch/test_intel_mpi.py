# SPDX-License-Identifier: Apache-2.0
"""What is Intel MPI's alone: it pins ranks by itself, which a placement leaves as it is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from launchers import ALL_LAUNCHERS
from tracing import compiled

from fairlead.act.launch import LaunchSpec, detect, run
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

pytestmark = pytest.mark.mpi

INTEL_MPI = ALL_LAUNCHERS["intel-mpi"]
HOSTS = ("alpha", "beta")
CLUSTER = Cluster(HOSTS, (2, 2))

# Intel MPI pins ranks when the launcher starts them and in MPI_Init.
CPUS = """
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  char list[4 * CPU_SETSIZE] = "";
  for (int cpu = 0, at = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) at += sprintf(list + at, "%d,", cpu);
  printf("rank %d on %s has %s\\n", rank, getenv("FAKE_HOST"), list);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize("pin", ["1", "0"])
def test_placed_ranks_have_the_cpus_that_the_launcher_gives(
    pin: str, tmp_path: Path, invented_hosts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("I_MPI_PIN", pin)
    (tmp_path / "cpus.c").write_text(CPUS)
    program = str(compiled([INTEL_MPI.mpicc], [tmp_path / "cpus.c"]))
    launcher = detect(INTEL_MPI.mpirun)

    def cpus_of_host(placement: Placement | None) -> dict[str, list[str]]:
        spec = LaunchSpec((program,), 4, CLUSTER, placement)
        done = run(launcher.prepare_command(spec, tmp_path), capture=True)
        assert done.returncode == 0, done.stderr
        found = re.findall(r"rank \d+ on (\S+) has (\S+)", done.stdout)
        assert len(found) == 4, done.stdout
        return {
            name: sorted(cpus for host, cpus in found if host == name) for name in CLUSTER.hosts
        }

    placed = Placement(HOSTS, np.array([1, 0, 0, 1]))

    assert cpus_of_host(placed) == cpus_of_host(None)
