/* SPDX-License-Identifier: Apache-2.0 */
/* Calls one collective once: its name and the bytes that a rank passes to it are the arguments.
   Reductions add 64-bit numbers; another name calls nothing. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const MPI_Comm comm = MPI_COMM_WORLD;
  int n = 0;
  MPI_Comm_size(comm, &n);
  const char* name = argc > 1 ? argv[1] : "";
  const int bytes = argc > 2 ? atoi(argv[2]) : 8;
  const int count = bytes / 8;
  const int part = count / n > 0 ? count / n : 1;
  char* out = calloc((size_t)n, (size_t)bytes + 8);
  char* in = calloc((size_t)n, (size_t)bytes + 8);
  int* counts = malloc(sizeof(int) * (size_t)n);
  int* places = malloc(sizeof(int) * (size_t)n);
  const int is_reduction = strcmp(name, "reduce_scatter") == 0;
  for (int i = 0; i < n; ++i) {
    counts[i] = is_reduction ? part : bytes;
    places[i] = i * bytes;
  }
  if (strcmp(name, "allgather") == 0)
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
  if (strcmp(name, "allgatherv") == 0)
    MPI_Allgatherv(out, bytes, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
  if (strcmp(name, "allreduce") == 0) MPI_Allreduce(out, in, count, MPI_INT64_T, MPI_SUM, comm);
  if (strcmp(name, "bcast") == 0) MPI_Bcast(out, bytes, MPI_BYTE, 0, comm);
  if (strcmp(name, "gather") == 0) MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
  if (strcmp(name, "reduce") == 0) MPI_Reduce(out, in, count, MPI_INT64_T, MPI_SUM, 0, comm);
  if (is_reduction) MPI_Reduce_scatter(out, in, counts, MPI_INT64_T, MPI_SUM, comm);
  if (strcmp(name, "reduce_scatter_block") == 0)
    MPI_Reduce_scatter_block(out, in, part, MPI_INT64_T, MPI_SUM, comm);
  if (strcmp(name, "scan") == 0) MPI_Scan(out, in, count, MPI_INT64_T, MPI_SUM, comm);
  if (strcmp(name, "scatter") == 0) MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, comm);
  free(out);
  free(in);
  free(counts);
  free(places);
  MPI_Finalize();
  return 0;
}
