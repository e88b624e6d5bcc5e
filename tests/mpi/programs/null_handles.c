/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers to no handle, where one is expected: rank 0 prints whether each call returned an error.
   Meanwhile each rank has a receive pending, of a message of the rank before it. */
#include <mpi.h>
#include <stdio.h>

static char buffer[8];
static char sent[4096];
static char received[4096];
#ifndef OPEN_MPI
static char room[4096];
#endif

static void report(const char* call, int code, int rank) {
  if (rank == 0) printf("%s: %s\n", call, code == MPI_SUCCESS ? "success" : "error");
}

#define TRY(call) report(#call, call, rank)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size;
  MPI_Request pending;
  MPI_Status status;
  MPI_Irecv(received, sizeof received, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &pending);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  TRY(MPI_Request_free(NULL));
#ifndef OPEN_MPI /* which crashes by itself */
  TRY(MPI_Comm_free(NULL));
  TRY(MPI_Comm_disconnect(NULL));
  TRY(MPI_Mrecv(buffer, 8, MPI_BYTE, NULL, MPI_STATUS_IGNORE));
  /* In Open MPI a null status is the mark that none is wanted. */
  MPI_Message message;
  MPI_Request sending;
  MPI_Isend(sent, sizeof sent, MPI_BYTE, next, 2, MPI_COMM_WORLD, &sending);
  MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, &status);
  TRY(MPI_Mrecv(room, sizeof room, MPI_BYTE, &message, NULL));
  TRY(MPI_Mrecv(room, sizeof room, MPI_BYTE, &message, &status));
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
#endif
  TRY(MPI_Start(NULL));
  TRY(MPI_Startall(0, NULL));
  TRY(MPI_Startall(1, NULL));
  TRY(MPI_Wait(NULL, MPI_STATUS_IGNORE));
  TRY(MPI_Waitall(1, NULL, &status));
  TRY(MPI_Cancel(NULL));
  TRY(MPI_Irecv(buffer, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, NULL));
  TRY(MPI_Recv_init(received, sizeof received, MPI_BYTE, next, 1, MPI_COMM_WORLD, NULL));
  TRY(MPI_Isend(sent, sizeof sent, MPI_BYTE, next, 1, MPI_COMM_WORLD, NULL));
  TRY(MPI_Send_init(sent, sizeof sent, MPI_BYTE, next, 1, MPI_COMM_WORLD, NULL));
  TRY(MPI_Isend(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, NULL));
  TRY(MPI_Send_init(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, NULL));
  TRY(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, NULL, 1, NULL));
  TRY(MPI_Cart_create(MPI_COMM_NULL, 1, NULL, NULL, 1, NULL));
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  TRY(MPI_Comm_free(&comm));
  TRY(MPI_Comm_disconnect(&comm));
  TRY(MPI_Request_free(&request));
  TRY(MPI_Start(&request));
  sent[sizeof sent - 1] = 1;
  MPI_Send(sent, sizeof sent, MPI_BYTE, next, 0, MPI_COMM_WORLD);
  TRY(MPI_Wait(&pending, MPI_STATUS_IGNORE));
  if (rank == 0) printf("received: %d\n", received[sizeof received - 1]);
  MPI_Finalize();
  return 0;
}
