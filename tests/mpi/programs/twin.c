/* SPDX-License-Identifier: Apache-2.0 */
/* The messages and collectives of twin.F90, in C. */
#include <mpi.h>
#include <stdlib.h>

static double outgoing[1024];
static double incoming[2048];

static MPI_Request request_of(int kind, int count, int dest, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (kind) {
    case 0:
      MPI_Send(outgoing, count, MPI_DOUBLE, dest, 0, comm);
      break;
    case 1:
      MPI_Bsend(outgoing, count, MPI_DOUBLE, dest, 0, comm);
      break;
    case 2:
      MPI_Ssend(outgoing, count, MPI_DOUBLE, dest, 0, comm);
      break;
    case 3:
      MPI_Rsend(outgoing, count, MPI_DOUBLE, dest, 0, comm);
      break;
    case 4:
      MPI_Isend(outgoing, count, MPI_DOUBLE, dest, 0, comm, &request);
      break;
    case 5:
      MPI_Ibsend(outgoing, count, MPI_DOUBLE, dest, 0, comm, &request);
      break;
    case 6:
      MPI_Issend(outgoing, count, MPI_DOUBLE, dest, 0, comm, &request);
      break;
    case 7:
      MPI_Irsend(outgoing, count, MPI_DOUBLE, dest, 0, comm, &request);
      break;
    case 8:
      MPI_Send_init(outgoing, count, MPI_DOUBLE, dest, 0, comm, &request);
      break;
    default:
      MPI_Ssend_init(outgoing, count, MPI_DOUBLE, dest, 0, comm, &request);
      break;
  }
  if (kind == 8) MPI_Start(&request);
  if (kind == 9) MPI_Startall(1, &request);
  return request;
}

static void send_all_kinds(MPI_Comm comm, int rank, int size) {
  for (int kind = 0; kind < 10; ++kind) {
    const int dest = (rank + kind + 1) % size;
    const int source = (rank + size - (kind + 1) % size) % size;
    MPI_Request receive;
    MPI_Irecv(incoming, 1 << kind, MPI_DOUBLE, source, 0, comm, &receive);
    MPI_Barrier(comm);
    MPI_Request request = request_of(kind, 1 << kind, dest, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    if (kind >= 8) MPI_Request_free(&request);
  }
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  MPI_Sendrecv(outgoing, 3, MPI_DOUBLE, next, 0, incoming, 3, MPI_DOUBLE, previous, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(outgoing, 5, MPI_DOUBLE, next, 0, previous, 0, comm, MPI_STATUS_IGNORE);
  MPI_Send(outgoing, 7, MPI_DOUBLE, MPI_PROC_NULL, 0, comm);
}

static void call_collectives(MPI_Comm comm, int rank, int size) {
  int counts[64];
  int offsets[64];
  for (int peer = 0; peer < size; ++peer) {
    counts[peer] = rank + peer + 1;
    offsets[peer] = 2 * size * peer;
  }
  MPI_Alltoall(outgoing, 3, MPI_DOUBLE, incoming, 3, MPI_DOUBLE, comm);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DOUBLE, incoming, counts, offsets, MPI_DOUBLE, comm);
  MPI_Allreduce(MPI_IN_PLACE, incoming, 11, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Bcast(incoming, 13, MPI_DOUBLE, 0, comm);
  MPI_Gather(outgoing, 2, MPI_DOUBLE, incoming, 2, MPI_DOUBLE, 0, comm);
}

static void run(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  send_all_kinds(comm, rank, size);
  call_collectives(comm, rank, size);
}

int main(int argc, char** argv) {
  static char buffer[1 << 17];
  void* detached;
  int rank, size;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  run(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  run(half);
  MPI_Comm_free(&half);
  MPI_Buffer_detach(&detached, &size);
  MPI_Finalize();
  return 0;
}
