/* SPDX-License-Identifier: Apache-2.0 */
/* Nanoseconds per call of one rank that sends to itself, of many short batches one of the fastest:
   what else runs on the machine only makes them longer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBatches = 200, kCalls = 500 };

static char outgoing[8], incoming[8];

static void isend(MPI_Comm comm, MPI_Request* unused) {
  (void)unused;
  MPI_Request request;
  MPI_Isend(outgoing, 8, MPI_BYTE, 0, 0, comm, &request);
  MPI_Recv(incoming, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sendrecv(MPI_Comm comm, MPI_Request* unused) {
  (void)unused;
  MPI_Sendrecv(outgoing, 8, MPI_BYTE, 0, 0, incoming, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
}

static void start(MPI_Comm comm, MPI_Request* request) {
  MPI_Start(request);
  MPI_Recv(incoming, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void allreduce(MPI_Comm comm, MPI_Request* unused) {
  (void)unused;
  MPI_Allreduce(outgoing, incoming, 1, MPI_INT, MPI_SUM, comm);
}

static int is_less(const void* left, const void* right) {
  const double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

static void measure(const char* name, void (*call)(MPI_Comm, MPI_Request*), MPI_Comm comm) {
  double batch_s[kBatches];
  MPI_Request request;
  MPI_Send_init(outgoing, 8, MPI_BYTE, 0, 0, comm, &request);
  for (int batch = 0; batch < kBatches; ++batch) {
    const double begin_s = MPI_Wtime();
    for (int repeat = 0; repeat < kCalls; ++repeat) call(comm, &request);
    batch_s[batch] = MPI_Wtime() - begin_s;
  }
  MPI_Request_free(&request);
  qsort(batch_s, kBatches, sizeof batch_s[0], is_less);
  printf("%s %.3f\n", name, 1e9 * batch_s[kBatches / 10] / kCalls);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm duplicate;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  measure("isend", isend, MPI_COMM_WORLD);
  measure("isend-on-duplicate", isend, duplicate);
  measure("sendrecv", sendrecv, MPI_COMM_WORLD);
  measure("start", start, MPI_COMM_WORLD);
  measure("allreduce", allreduce, MPI_COMM_WORLD);
  MPI_Comm_free(&duplicate);
  MPI_Finalize();
  return 0;
}
