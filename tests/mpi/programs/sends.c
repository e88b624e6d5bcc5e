/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one message of 2^kind bytes by every kind of send, on world, a duplicate and a split. */
#include <mpi.h>
#include <stdlib.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { kKinds = 17 };
#else
enum { kKinds = 14 };
#endif

static char outgoing[1 << 17];
static char incoming[1 << 17];

/* Starts a persistent request by MPI_Start and once more by MPI_Startall. */
static void start_twice(MPI_Request* request, int source, int kind, MPI_Comm comm) {
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Request receive;
  MPI_Irecv(incoming + sizeof incoming / 2, 1 << kind, MPI_BYTE, source, 0, comm, &receive);
  MPI_Barrier(comm);
  MPI_Startall(1, request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Request_free(request);
}

static void send_by(int kind, int dest, int source, MPI_Comm comm) {
  const int count = 1 << kind;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (kind) {
    case 0:
      MPI_Send(outgoing, count, MPI_BYTE, dest, 0, comm);
      break;
    case 1:
      MPI_Bsend(outgoing, count, MPI_BYTE, dest, 0, comm);
      break;
    case 2:
      MPI_Ssend(outgoing, count, MPI_BYTE, dest, 0, comm);
      break;
    case 3:
      MPI_Rsend(outgoing, count, MPI_BYTE, dest, 0, comm);
      break;
    case 4:
      MPI_Isend(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    case 5:
      MPI_Ibsend(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    case 6:
      MPI_Issend(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    case 7:
      MPI_Irsend(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    case 8:
      MPI_Send_init(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    case 9:
      MPI_Bsend_init(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    case 10:
      MPI_Ssend_init(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    case 11:
      MPI_Rsend_init(outgoing, count, MPI_BYTE, dest, 0, comm, &request);
      break;
    default:
      break;
  }
  if (kind >= 8 && kind <= 11) {
    start_twice(&request, source, kind, comm);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void exchange_by(int kind, int dest, int source, MPI_Comm comm) {
  const int count = 1 << kind;
  MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (kind == 12) {
    MPI_Sendrecv(outgoing, count, MPI_BYTE, dest, 0, incoming, count, MPI_BYTE, source, 0, comm,
                 MPI_STATUS_IGNORE);
  } else if (kind == 13) {
    MPI_Sendrecv_replace(outgoing, count, MPI_BYTE, dest, 0, source, 0, comm, MPI_STATUS_IGNORE);
  }
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  if (kind == 14) {
    MPI_Isendrecv(outgoing, count, MPI_BYTE, dest, 0, incoming, count, MPI_BYTE, source, 0, comm,
                  request);
  } else if (kind == 15) {
    MPI_Isendrecv_replace(outgoing, count, MPI_BYTE, dest, 0, source, 0, comm, request);
  } else if (kind == 16) {
    MPI_Psend_init(outgoing, 2, count / 2, MPI_BYTE, dest, 0, comm, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(incoming, 2, count / 2, MPI_BYTE, source, 0, comm, MPI_INFO_NULL, &request[1]);
    MPI_Startall(2, request);
    MPI_Pready_range(0, 1, request[0]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
  }
#endif
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void run(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int kind = 0; kind < kKinds; ++kind) {
    const int dest = (rank + kind + 1) % size;
    const int source = (rank + size - (kind + 1) % size) % size;
    if (kind >= 12) {
      exchange_by(kind, dest, source, comm);
      continue;
    }
    MPI_Request receive;
    MPI_Irecv(incoming, 1 << kind, MPI_BYTE, source, 0, comm, &receive);
    MPI_Barrier(comm); /* a ready send needs its receive to be there */
    send_by(kind, dest, source, comm);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char* buffer = malloc(1 << 20);
  MPI_Buffer_attach(buffer, 1 << 20);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  run(MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  run(comm);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
  run(comm);
  MPI_Comm_free(&comm);
  MPI_Buffer_detach(&buffer, &rank);
  free(buffer);
  MPI_Finalize();
  return 0;
}
