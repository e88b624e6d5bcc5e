/* SPDX-License-Identifier: Apache-2.0 */
/* Ten broadcasts of so many bytes from rank 0, which prints what its TCP sockets received
   meanwhile. Debian's MPICH may hang in MPI_Finalize over TCP, so with a second argument there is
   none. */
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/tcp.h>

static unsigned long long received_bytes(void) {
  unsigned long long sum = 0;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
      sum += info.tcpi_bytes_received;
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = atoi(argv[1]);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* message = calloc(1, (size_t)size);
  /* The first calls connect ranks with each other. */
  MPI_Bcast(message, size, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const unsigned long long before = received_bytes();
  for (int call = 0; call < 10; ++call) MPI_Bcast(message, size, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("received %llu\n", received_bytes() - before);
  fflush(stdout);
  free(message);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2) _exit(0);
  MPI_Finalize();
  return 0;
}
