// SPDX-License-Identifier: Apache-2.0
// All ordered pairs of ranks at the same time: each rank sends a message to each other one and gets
// an empty answer. After a round that opens connections it prints, of each further one, a line
// "SRC DST ROUND SECONDS", and at last "window BEGIN END" by CLOCK_MONOTONIC, which all processes
// of a machine share.
//   pingpong_at_once BYTES ROUNDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATA = 1, ANSWER = 2 };

static int size_bytes, rank, num_ranks;
static char *out, *in;

static double clock_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Requests: of data from each rank, of answers from each rank, of data to it, of answers to it.
static void play_round(double* seconds) {
  const int n = num_ranks;
  MPI_Request* const requests = malloc(sizeof(MPI_Request) * 4 * (size_t)n);
  double* const begun_s = calloc((size_t)n, sizeof(double));
  for (int i = 0; i < 4 * n; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int other = 0; other < n; ++other) {
    if (other == rank) continue;
    MPI_Irecv(in + (size_t)other * (size_t)size_bytes, size_bytes, MPI_BYTE, other, DATA,
              MPI_COMM_WORLD, &requests[other]);
    MPI_Irecv(NULL, 0, MPI_BYTE, other, ANSWER, MPI_COMM_WORLD, &requests[n + other]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 1; step < n; ++step) {
    const int other = (rank + step) % n;
    begun_s[other] = clock_s();
    MPI_Isend(out, size_bytes, MPI_BYTE, other, DATA, MPI_COMM_WORLD, &requests[2 * n + other]);
  }
  for (;;) {
    int done;
    MPI_Waitany(4 * n, requests, &done, MPI_STATUS_IGNORE);
    if (done == MPI_UNDEFINED) break;
    const int other = done % n;
    if (done < n)
      MPI_Isend(NULL, 0, MPI_BYTE, other, ANSWER, MPI_COMM_WORLD, &requests[3 * n + other]);
    else if (done < 2 * n)
      seconds[other] = clock_s() - begun_s[other];
  }
  free(begun_s);
  free(requests);
}

static void report(const double* seconds, int num_rounds, double window_begin_s) {
  const int count = num_rounds * num_ranks;
  double* const all = rank == 0 ? malloc(sizeof(double) * (size_t)(count * num_ranks)) : NULL;
  MPI_Gather(seconds, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int src = 0; src < num_ranks; ++src)
    for (int round = 0; round < num_rounds; ++round)
      for (int dst = 0; dst < num_ranks; ++dst)
        if (src != dst)
          printf("%d %d %d %.9f\n", src, dst, round,
                 all[(src * num_rounds + round) * num_ranks + dst]);
  printf("window %.6f %.6f\n", window_begin_s, clock_s());
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  size_bytes = atoi(argv[1]);
  const int num_rounds = atoi(argv[2]);
  out = malloc((size_t)size_bytes);
  in = malloc((size_t)size_bytes * (size_t)num_ranks);
  memset(out, 1, (size_t)size_bytes);
  double* const seconds = calloc((size_t)num_rounds * (size_t)num_ranks, sizeof(double));
  double* const first = calloc((size_t)num_ranks, sizeof(double));
  play_round(first);
  const double window_begin_s = clock_s();
  for (int round = 0; round < num_rounds; ++round) play_round(seconds + round * num_ranks);
  report(seconds, num_rounds, window_begin_s);
  MPI_Finalize();
  return 0;
}
