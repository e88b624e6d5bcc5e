// SPDX-License-Identifier: Apache-2.0
// All ordered pairs of ranks in turn: messages one way, an empty answer back. Prints a line for
// each: source, destination, median seconds of a round.
//   pingpong BYTES ROUNDS [SRC DST SECONDS [FILE]]
// With a pair it goes on for some seconds, and prints a line "SRC DST seconds since start, of the
// round" for each round. It makes the file when the first round is over.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* bytes;
static int size, rank;

static double round_s(int src, int dst) {
  const double start = MPI_Wtime();
  if (rank == src) {
    MPI_Send(bytes, size, MPI_BYTE, dst, 1, MPI_COMM_WORLD);
    MPI_Recv(bytes, 0, MPI_BYTE, dst, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == dst) {
    MPI_Recv(bytes, size, MPI_BYTE, src, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(bytes, 0, MPI_BYTE, src, 2, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - start;
}

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return difference < 0 ? -1 : difference > 0;
}

static void measure(int src, int dst, int num_rounds, double* times) {
  if (rank == src || rank == dst) {
    round_s(src, dst);  // connections
    for (int round = 0; round < num_rounds; ++round) times[round] = round_s(src, dst);
  }
  if (rank == src) {
    qsort(times, (size_t)num_rounds, sizeof *times, compare);
    printf("%d %d %.9f\n", src, dst, times[num_rounds / 2]);
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void follow(int src, int dst, double seconds, const char* file) {
  const double start = MPI_Wtime();
  int goes_on = 1;
  while (goes_on && (rank == src || rank == dst)) {
    const double time = round_s(src, dst);
    if (rank == src) {
      const double since = MPI_Wtime() - start;
      printf("%d %d %.6f %.9f\n", src, dst, since, time);
      fflush(stdout);
      if (file != NULL) fclose(fopen(file, "w"));
      file = NULL;
      goes_on = since < seconds;
      MPI_Send(&goes_on, 1, MPI_INT, dst, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&goes_on, 1, MPI_INT, src, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int num_ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  size = atoi(argv[1]);
  const int num_rounds = atoi(argv[2]);
  bytes = malloc((size_t)size + 1);
  memset(bytes, 1, (size_t)size);
  double* const times = malloc(sizeof(double) * (size_t)num_rounds);
  if (argc > 5) {
    follow(atoi(argv[3]), atoi(argv[4]), atof(argv[5]), argc > 6 ? argv[6] : NULL);
  } else {
    for (int src = 0; src < num_ranks; ++src)
      for (int dst = 0; dst < num_ranks; ++dst)
        if (src != dst) measure(src, dst, num_rounds, times);
  }
  free(times);
  free(bytes);
  MPI_Finalize();
  return 0;
}
