// SPDX-License-Identifier: Apache-2.0
// Calls of point-to-point communication with one wrong argument each, on a communicator with a
// handler of its own: rank 0 prints the class of the error, and how often which handler was called.
// Then a right message is exchanged, which finds nothing left. Each rank has one before and after.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 4096 };

static MPI_Comm comm;
static int rank, next, previous;
static int num_own, num_others;

static void count_own(MPI_Comm* where, int* code, ...) {
  int same = MPI_UNEQUAL;
  (void)code;
  MPI_Comm_compare(*where, comm, &same);
  if (same == MPI_IDENT) ++num_own;
  if (same != MPI_IDENT) ++num_others;
}

static void print_result(const char* call, int code) {
  int class = MPI_SUCCESS, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_class(code, &class);
  MPI_Error_string(class, text, &length);
  if (rank == 0)
    printf("%s: %s, handlers %d %d\n", call, code == MPI_SUCCESS ? "success" : text, num_own,
           num_others);
  num_own = num_others = 0;
}

#define TRY(call) print_result(#call, call)

static char out[2 * kBytes], in[2 * kBytes];

static void sends(MPI_Datatype uncommitted) {
  MPI_Request request;
  TRY(MPI_Send(out, kBytes, MPI_DATATYPE_NULL, next, 0, comm));
  TRY(MPI_Send(out, 1, uncommitted, next, 0, comm));
  TRY(MPI_Send(out, -1, MPI_CHAR, next, 0, comm));
  TRY(MPI_Send(out, kBytes, MPI_CHAR, next, -7, comm));
  TRY(MPI_Send(out, kBytes, MPI_CHAR, 1000, 0, comm));
  TRY(MPI_Send(out, kBytes, MPI_CHAR, MPI_ANY_SOURCE, 0, comm));
  TRY(MPI_Send(NULL, kBytes, MPI_CHAR, next, 0, comm));
  TRY(MPI_Ssend(out, 1, uncommitted, next, 0, comm));
  TRY(MPI_Rsend(out, 1, uncommitted, next, 0, comm));
  TRY(MPI_Bsend(out, 1, uncommitted, next, 0, comm));
  TRY(MPI_Isend(out, 1, uncommitted, next, 0, comm, &request));
  TRY(MPI_Isend(out, kBytes, MPI_DATATYPE_NULL, next, 0, comm, &request));
  TRY(MPI_Isend(NULL, kBytes, MPI_CHAR, next, 0, comm, &request));
  TRY(MPI_Send_init(out, 1, uncommitted, next, 0, comm, &request));
  TRY(MPI_Send_init(out, kBytes, MPI_DATATYPE_NULL, next, 0, comm, &request));
  TRY(MPI_Send_init(NULL, kBytes, MPI_CHAR, next, 0, comm, &request));
  TRY(MPI_Send_init(out, kBytes, MPI_CHAR, next, -7, comm, &request));
}

static void receives(MPI_Datatype uncommitted) {
  MPI_Request request;
  MPI_Status status;
  TRY(MPI_Recv(in, kBytes, MPI_DATATYPE_NULL, previous, 0, comm, &status));
  TRY(MPI_Recv(in, 1, uncommitted, previous, 0, comm, &status));
  TRY(MPI_Recv(in, -1, MPI_CHAR, previous, 0, comm, &status));
  TRY(MPI_Recv(in, kBytes, MPI_CHAR, previous, -7, comm, &status));
  TRY(MPI_Recv(in, kBytes, MPI_CHAR, 1000, 0, comm, &status));
  TRY(MPI_Recv(NULL, kBytes, MPI_CHAR, previous, 0, comm, &status));
  TRY(MPI_Irecv(in, 1, uncommitted, previous, 0, comm, &request));
  TRY(MPI_Irecv(NULL, kBytes, MPI_CHAR, previous, 0, comm, &request));
  TRY(MPI_Recv_init(in, 1, uncommitted, previous, 0, comm, &request));
  TRY(MPI_Recv_init(in, kBytes, MPI_DATATYPE_NULL, previous, 0, comm, &request));
}

static void exchanges(MPI_Datatype uncommitted) {
  MPI_Status status;
  TRY(MPI_Sendrecv(out, 1, uncommitted, next, 0, in, kBytes, MPI_CHAR, previous, 0, comm, &status));
  TRY(MPI_Sendrecv(out, kBytes, MPI_CHAR, next, 0, in, 1, uncommitted, previous, 0, comm, &status));
  TRY(MPI_Sendrecv(out, -1, MPI_CHAR, next, 0, in, kBytes, MPI_CHAR, previous, 0, comm, &status));
  TRY(MPI_Sendrecv(out, kBytes, MPI_CHAR, 1000, 0, in, kBytes, MPI_CHAR, previous, 0, comm,
                   &status));
  TRY(MPI_Sendrecv_replace(out, 1, uncommitted, next, 0, previous, 0, comm, &status));
  TRY(MPI_Sendrecv_replace(out, kBytes, MPI_DATATYPE_NULL, next, 0, previous, 0, comm, &status));
}

static void probes(void) {
  int flag;
  MPI_Status status;
  MPI_Message message;
  TRY(MPI_Probe(1000, 0, comm, &status));
  TRY(MPI_Probe(previous, -7, comm, &status));
  TRY(MPI_Iprobe(1000, 0, comm, &flag, &status));
  TRY(MPI_Iprobe(previous, -7, comm, &flag, &status));
  TRY(MPI_Mprobe(1000, 0, comm, &message, &status));
  TRY(MPI_Improbe(previous, -7, comm, &flag, &message, &status));
}

// A matched message stays until arguments are right.
static void matched(MPI_Datatype uncommitted) {
  MPI_Request send;
  MPI_Message message;
  MPI_Status status;
  MPI_Isend(out, kBytes, MPI_CHAR, next, 5, comm, &send);
  MPI_Mprobe(previous, 5, comm, &message, &status);
  print_result("Mrecv(uncommitted)", MPI_Mrecv(in, 1, uncommitted, &message, &status));
  if (message != MPI_MESSAGE_NULL) MPI_Mrecv(in, kBytes, MPI_CHAR, &message, &status);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

#ifndef OPEN_MPI /* where the buffer cannot be detached after that */
// The buffer has room for a part of the message.
static void buffered(void) {
  static char buffer[kBytes / 2];
  char* detached;
  int size;
  MPI_Request request;
  MPI_Buffer_attach(buffer, sizeof buffer);
  TRY(MPI_Bsend(out, kBytes, MPI_CHAR, next, 6, comm));
  TRY(MPI_Ibsend(out, kBytes, MPI_CHAR, next, 6, comm, &request));
  MPI_Bsend_init(out, kBytes, MPI_CHAR, next, 6, comm, &request);
  TRY(MPI_Start(&request));
  MPI_Buffer_detach(&detached, &size);
}
#endif

static void started_twice(void) {
  MPI_Request requests[2];
  MPI_Recv_init(in, kBytes, MPI_CHAR, previous, 7, comm, &requests[0]);
  MPI_Send_init(out, kBytes, MPI_CHAR, next, 7, comm, &requests[1]);
  MPI_Start(&requests[0]);
#ifndef OPEN_MPI /* which starts it again */
  TRY(MPI_Start(&requests[0]));
#endif
  MPI_Barrier(comm);
  MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  requests[0] = MPI_REQUEST_NULL;
  TRY(MPI_Start(&requests[0]));
  TRY(MPI_Startall(1, requests));
}

int main(int argc, char** argv) {
  int size;
  MPI_Errhandler own, world;
  MPI_Datatype uncommitted;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_own, &own);
  MPI_Comm_create_errhandler(count_own, &world);
  MPI_Comm_set_errhandler(comm, own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, world);
  MPI_Type_contiguous(kBytes, MPI_CHAR, &uncommitted);
  sends(uncommitted);
  receives(uncommitted);
  exchanges(uncommitted);
  probes();
  matched(uncommitted);
#ifndef OPEN_MPI
  buffered();
#endif
  started_twice();
  memset(out, rank + 1, sizeof out);
  MPI_Status status;
  int count;
  MPI_Sendrecv(out, kBytes, MPI_CHAR, next, 0, in, sizeof in, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
               comm, &status);
  MPI_Get_count(&status, MPI_CHAR, &count);
  if (rank == 0)
    printf("received %d: %s\n", count, in[kBytes - 1] == previous + 1 ? "right" : "wrong");
  MPI_Type_free(&uncommitted);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
