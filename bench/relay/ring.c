// SPDX-License-Identifier: Apache-2.0
// A ring: each rank sends messages to the next one while it receives from the one before, without a
// barrier. Rank 0 prints a line "0 1 seconds since start, of the round" for each round.
//   ring BYTES SECONDS [FILE]
// Rank 0 makes the file when the first round is over.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int num_ranks, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int size = atoi(argv[1]);
  const double seconds = atof(argv[2]);
  char* const to_next = calloc((size_t)size + sizeof(long), 1);
  char* const from_previous = calloc((size_t)size + sizeof(long), 1);
  const int next = (rank + 1) % num_ranks, previous = (rank + num_ranks - 1) % num_ranks;

  // Each message says which round is the last one, as far as its sender knows: 0 while that is
  // open.
  long last_round = 0;
  const double start = MPI_Wtime();
  for (long round = 1; last_round == 0 || round <= last_round; ++round) {
    const double began = MPI_Wtime();
    // It takes as many rounds until all know it.
    if (rank == 0 && last_round == 0 && began - start > seconds) last_round = round + num_ranks;
    memcpy(to_next, &last_round, sizeof last_round);
    MPI_Sendrecv(to_next, size, MPI_BYTE, next, 1, from_previous, size, MPI_BYTE, previous, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (last_round == 0) memcpy(&last_round, from_previous, sizeof last_round);
    const double ended = MPI_Wtime();
    if (rank == 0) printf("0 1 %.6f %.9f\n", ended - start, ended - began);
    if (rank == 0 && round == 1 && argc > 3) fclose(fopen(argv[3], "w"));
  }
  free(from_previous);
  free(to_next);
  MPI_Finalize();
  return 0;
}
