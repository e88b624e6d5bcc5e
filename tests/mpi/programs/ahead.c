// SPDX-License-Identifier: Apache-2.0
// Rank 0 starts to send 1 GiB before rank 1 receives any of it; prints by how many MiB its memory
// has grown meanwhile.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { NUM_MESSAGES = 256, NUM_BYTES = 4 << 20, GO = NUM_MESSAGES };

static long peak_MiB(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

static void send_all(char* bytes) {
  MPI_Request requests[NUM_MESSAGES];
  // MPI may set up buffers of its own with the first message.
  MPI_Send(bytes, NUM_BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  const long before_MiB = peak_MiB();
  for (int message = 0; message < NUM_MESSAGES; ++message) {
    MPI_Isend(bytes, NUM_BYTES, MPI_CHAR, 1, message, MPI_COMM_WORLD, &requests[message]);
  }
  const long grown_MiB = peak_MiB() - before_MiB;
  MPI_Send(NULL, 0, MPI_CHAR, 1, GO, MPI_COMM_WORLD);
  MPI_Waitall(NUM_MESSAGES, requests, MPI_STATUSES_IGNORE);
  printf("%ld\n", grown_MiB);
}

static void receive_all(char* bytes) {
  MPI_Recv(bytes, NUM_BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(NULL, 0, MPI_CHAR, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int message = 0; message < NUM_MESSAGES; ++message) {
    bytes[message] = (char)~message;
    MPI_Recv(bytes, NUM_BYTES, MPI_CHAR, 0, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (bytes[message] != (char)message) MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* bytes = malloc(NUM_BYTES);
  for (int index = 0; index < NUM_BYTES; ++index) bytes[index] = (char)index;
  if (rank == 0) {
    send_all(bytes);
  } else if (rank == 1) {
    receive_all(bytes);
  }
  free(bytes);
  MPI_Finalize();
  return 0;
}
