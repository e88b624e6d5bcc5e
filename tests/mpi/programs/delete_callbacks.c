// SPDX-License-Identifier: Apache-2.0
// Delete callbacks of attributes that communicate on the communicator that is being freed, of an
// attribute that was set before the first call on it, and of one that was set after. Rank 0 prints
// what they got.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 100000 };

static int num_right;
static MPI_Comm in_use;

static void check_handler(MPI_Comm* comm, int* code, ...) {
  int same = MPI_UNEQUAL, class = MPI_SUCCESS;
  MPI_Comm_compare(*comm, in_use, &same);
  MPI_Error_class(*code, &class);
  num_right += same == MPI_IDENT && class == MPI_ERR_TRUNCATE;
}

// A sum, a broadcast and two messages around the ring, one of which is too large for its receiver.
static void communicate(MPI_Comm comm) {
  static char out[kBytes], in[kBytes];
  int rank, size, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Barrier(comm);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  num_right += sum == size * (size - 1) / 2;
  memset(out, rank == 0 ? 5 : 0, kBytes);
  MPI_Bcast(out, kBytes, MPI_CHAR, 0, comm);
  num_right += out[kBytes - 1] == 5;
  MPI_Status status;
  memset(out, rank + 1, kBytes);
  MPI_Sendrecv(out, kBytes, MPI_CHAR, (rank + 1) % size, 1, in, kBytes, MPI_CHAR,
               (rank + size - 1) % size, 1, comm, &status);
  num_right += in[kBytes - 1] == (rank + size - 1) % size + 1;
  MPI_Request request;
  in_use = comm;
  MPI_Isend(out, kBytes, MPI_CHAR, (rank + 1) % size, 2, comm, &request);
  MPI_Recv(in, 64, MPI_CHAR, (rank + size - 1) % size, 2, comm, &status);
  MPI_Wait(&request, &status);
}

static int delete_value(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  communicate(comm);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int keys[2], rank, sum = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_errhandler(check_handler, &handler);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int each = 0; each < 2; ++each)
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_value, &keys[each], NULL);
  for (int round = 0; round < 20; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_attr(comm, keys[0], NULL);
    // In every third round nothing is called before.
    if (round % 3 > 0) communicate(comm);
    MPI_Comm_set_attr(comm, keys[1], NULL);
    if (round % 3 > 1) communicate(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Reduce(&num_right, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("right %d\n", sum);
  MPI_Errhandler_free(&handler);
  for (int each = 0; each < 2; ++each) MPI_Comm_free_keyval(&keys[each]);
  MPI_Finalize();
  return 0;
}
