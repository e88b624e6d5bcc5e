// SPDX-License-Identifier: Apache-2.0
// Every rank sends 10 messages of 100 bytes to the next, writes its process id to FOLDER/RANK, and
// then ends in one of these ways (arguments: FOLDER WAY):
//
//   send       MPI_Finalize at once, without a process id
//   abort      rank 0 calls MPI_Abort with code 5 when there is FOLDER/go, the others wait for it
//   exit       exit(3) without MPI_Finalize
//   sleep      never ends by itself
//   handler    sleeps until its own handler of SIGTERM runs, then MPI_Finalize
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t has_come = 0;

static void hear(int number) {
  (void)number;
  has_come = 1;
}

static void send_to_next(int rank, int size, int times) {
  static char out[100];
  static char in[100];
  for (int time = 0; time < times; ++time) {
    MPI_Sendrecv(out, 100, MPI_BYTE, (rank + 1) % size, 0, in, 100, MPI_BYTE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void write_process_id(const char* folder, int rank) {
  char path[4096];
  char written[4096 + 8];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  snprintf(written, sizeof written, "%s.part", path);
  FILE* const stream = fopen(written, "w");
  fprintf(stream, "%d", (int)getpid());
  fclose(stream);
  rename(written, path);
}

static void wait_for_go(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/go", folder);
  while (access(path, F_OK) != 0) usleep(1000);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const way = argv[2];
  if (strcmp(way, "handler") == 0) signal(SIGTERM, hear);
  send_to_next(rank, size, 10);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "send") == 0) return MPI_Finalize();
  write_process_id(argv[1], rank);
  if (strcmp(way, "exit") == 0) exit(3);
  if (strcmp(way, "abort") == 0 && rank == 0) {
    wait_for_go(argv[1]);
    MPI_Abort(MPI_COMM_WORLD, 5);
  }
  while (!has_come) usleep(1000);
  puts("handled");
  MPI_Finalize();
  return 0;
}
