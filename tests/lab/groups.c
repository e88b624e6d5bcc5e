// SPDX-License-Identifier: Apache-2.0
// Ranks with even numbers talk to each other, and so do the others; each reports where it runs.
// With the argument "wait" they then wait for SIGUSR1; with "leave", first or second, they end
// without MPI_Finalize, in which Debian's MPICH often hangs between hosts connected by TCP.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char out[8][20000], in[8][20000];
static volatile sig_atomic_t is_signalled = 0;

static void note(int number) {
  (void)number;
  is_signalled = 1;
}

static void exchange(int rank, int size) {
  for (int step = 0; step < 30; ++step) {
    MPI_Request requests[16];
    MPI_Status statuses[16];
    int count = 0;
    for (int peer = rank % 2; peer < size; peer += 2) {
      if (peer == rank) continue;
      MPI_Irecv(in[peer / 2], 20000, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[count++]);
      MPI_Isend(out[peer / 2], 20000, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, statuses);
  }
}

static void report(int rank, int size) {
  char host[256], line[4096], cpus[4096] = "unknown";
  gethostname(host, sizeof host);
  FILE* const status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "Cpus_allowed_list: %s", cpus) == 1) break;
  if (status) fclose(status);
  printf("rank %d of %d on %s, CPUs %s\n", rank, size, host, cpus);
  fflush(stdout);
}

static int has_argument(int argc, char** argv, const char* name) {
  for (int index = 1; index < argc; ++index)
    if (strcmp(argv[index], name) == 0) return 1;
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  signal(SIGUSR1, note);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange(rank, size);
  report(rank, size);
  if (has_argument(argc, argv, "wait")) {
    while (!is_signalled) usleep(10000);
    printf("rank %d of %d got USR1\n", rank, size);
    fflush(stdout);
  }
  if (has_argument(argc, argv, "leave")) {
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(0);
  }
  MPI_Finalize();
  return 0;
}
