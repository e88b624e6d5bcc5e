/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank sends 1000 bytes to the next, in two messages, and takes part in an allreduce. Rank 0
   prints the sum of what came in. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, size, sum = 0, received;
  char outgoing[600], incoming[600];
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  memset(outgoing, rank, sizeof outgoing);
  MPI_Irecv(incoming, 600, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(outgoing, 600, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(outgoing, 400, MPI_BYTE, (rank + 1) % size, 2, incoming, 400, MPI_BYTE,
               (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  received = incoming[0] + incoming[599];
  MPI_Allreduce(&received, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
