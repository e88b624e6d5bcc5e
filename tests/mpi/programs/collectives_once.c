/* SPDX-License-Identifier: Apache-2.0 */
/* One call of each operation whose algorithm can be set, with so many bytes from each rank or
   to it. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const size_t size = (size_t)atoi(argv[1]);
  const int count = (int)(size / sizeof(int));
  int num_ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  int* out = calloc((size_t)num_ranks, size);
  int* in = calloc((size_t)num_ranks, size);
  int* counts = calloc((size_t)num_ranks, sizeof *counts);
  for (int rank = 0; rank < num_ranks; ++rank) counts[rank] = count;
  MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
  MPI_Bcast(in, count, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(counts);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
