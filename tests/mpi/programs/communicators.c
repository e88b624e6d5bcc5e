/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives on several communicators, with several roots; run by four ranks. */
#include <mpi.h>

static int buffer[64];
static int result[64];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  /* A duplicate has the same ranks. */
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Bcast(buffer, 1, MPI_INT, 2, MPI_COMM_WORLD);
  MPI_Bcast(buffer, 1, MPI_INT, 2, twin);
  MPI_Bcast(buffer, 1, MPI_INT, 3, twin);
  MPI_Comm_free(&twin);

  /* Halves in falling order of world ranks: {2, 0} and {3, 1}; made, used and freed three times. */
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Reduce(buffer, result, 2, MPI_INT, MPI_SUM, 1, half);
    MPI_Comm_free(&half);
  }

  /* The ranks of the other half hand in what goes to rank 0. */
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &inter);
  const int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
  MPI_Gather(buffer, 3, MPI_INT, result, 3, MPI_INT, root, inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);

  MPI_Finalize();
  return 0;
}
