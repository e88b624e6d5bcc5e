# SPDX-License-Identifier: Apache-2.0
"""A program whose ranks talk in pairs, and print where they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

# Rank r talks to rank r + 4 (modulo 8) only: apart in the order in which hosts are filled.
PAIRS = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char out[20000], in[20000];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  char host[256];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  const int peer = (rank + size / 2) % size;
  for (int i = 0; i < 20; ++i)
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, peer, 0, in, sizeof in, MPI_CHAR, peer, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (argc > 2) sleep(atoi(argv[2]));
  printf("rank %d of %d on %s\\n", rank, size, host);
  if (rank == 0) printf("took 1.5 s\\n");
  MPI_Finalize();
  return rank == 0 && argc > 1 ? atoi(argv[1]) : 0;
}
"""


def compile_pairs(mpicc: str, folder: Path) -> str:
    (folder / "pairs.c").write_text(PAIRS)
    program = folder / "pairs"
    subprocess.run([mpicc, folder / "pairs.c", "-o", program], check=True)
    return str(program)


def host_of_rank(output: str) -> dict[int, str]:
    rows = [line.split() for line in output.splitlines() if line.startswith("rank ")]
    return {int(row[1]): row[5] for row in rows}
