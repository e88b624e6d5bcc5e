// SPDX-License-Identifier: Apache-2.0
// Collectives with one wrong argument each, on a communicator with a handler of its own. Each rank
// writes to a file of its own, since a launcher may mix the lines of ranks: the class of the error,
// how often which handler was called, and whether calls after it deliver what they should.
//   wrong_collectives FOLDER [buffers]    with "buffers" also null ones and those that overlap,
//                                         which Open MPI does not look at
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 10, kMostRanks = 8 };

static MPI_Comm comm;
static int rank, size;
static int num_own, num_others;
static int in[kCount * kMostRanks], out[kCount * kMostRanks];

static void count_call(MPI_Comm* where, int* code, ...) {
  int same = MPI_UNEQUAL;
  (void)code;
  MPI_Comm_compare(*where, comm, &same);
  if (same == MPI_IDENT) ++num_own;
  if (same != MPI_IDENT) ++num_others;
}

static void print_result(const char* call, int code) {
  int class = MPI_SUCCESS, length;
  char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 200];
  MPI_Error_class(code, &class);
  MPI_Error_string(class, text, &length);
  const int end = snprintf(line, sizeof line, "rank %d: %s: %s, handlers %d %d\n", rank, call,
                           code == MPI_SUCCESS ? "success" : text, num_own, num_others);
  fwrite(line, 1, (size_t)end, stdout);
  fflush(stdout);
  num_own = num_others = 0;
}

#define TRY(call) print_result(#call, call)

static void print_sum(const char* what) {
  int sum = 0;
  for (int each = 0; each < kCount * size; ++each) sum += in[each];
  printf("rank %d: %s: %d\n", rank, what, sum);
  fflush(stdout);
}

// What all ranks pass alike.
static void alike(MPI_Datatype uncommitted) {
  const int wrong_counts[kMostRanks] = {kCount, -1, kCount, kCount, kCount, kCount, kCount, kCount};
  const int offsets[kMostRanks] = {0};
  TRY(MPI_Bcast(out, 1, uncommitted, 0, comm));
  TRY(MPI_Bcast(out, kCount, MPI_DATATYPE_NULL, 0, comm));
  TRY(MPI_Bcast(out, -1, MPI_INT, 0, comm));
  TRY(MPI_Bcast(out, kCount, MPI_INT, 1000, comm));
  TRY(MPI_Alltoall(out, kCount, MPI_DATATYPE_NULL, in, kCount, MPI_INT, comm));
  TRY(MPI_Alltoall(out, 1, uncommitted, in, kCount, MPI_INT, comm));
  TRY(MPI_Alltoall(out, kCount, MPI_INT, in, 1, uncommitted, comm));
  TRY(MPI_Allgather(out, -1, MPI_INT, in, kCount, MPI_INT, comm));
  TRY(MPI_Allgather(out, 1, uncommitted, in, kCount, MPI_INT, comm));
  TRY(MPI_Allgatherv(out, kCount, MPI_INT, in, wrong_counts, offsets, MPI_INT, comm));
  TRY(MPI_Allgatherv(out, kCount, MPI_DATATYPE_NULL, in, offsets, offsets, MPI_INT, comm));
  TRY(MPI_Allreduce(out, in, kCount, MPI_INT, MPI_OP_NULL, comm));
  TRY(MPI_Allreduce(out, in, kCount, MPI_DATATYPE_NULL, MPI_SUM, comm));
  TRY(MPI_Reduce(out, in, kCount, MPI_INT, MPI_SUM, -9, comm));
  TRY(MPI_Reduce_scatter(out, in, wrong_counts, MPI_INT, MPI_SUM, comm));
}

static void null_buffers(void) {
  TRY(MPI_Bcast(NULL, kCount, MPI_INT, 0, comm));
  TRY(MPI_Allgather(out, kCount, MPI_INT, NULL, kCount, MPI_INT, comm));
  TRY(MPI_Allgather(NULL, kCount, MPI_INT, in, kCount, MPI_INT, comm));
  TRY(MPI_Alltoall(NULL, kCount, MPI_INT, in, kCount, MPI_INT, comm));
  TRY(MPI_Allreduce(NULL, in, kCount, MPI_INT, MPI_SUM, comm));
  TRY(MPI_Allreduce(out, NULL, kCount, MPI_INT, MPI_SUM, comm));
  TRY(MPI_Allreduce(out, out, kCount, MPI_INT, MPI_SUM, comm));
  TRY(MPI_Allgather(in + rank * kCount, kCount, MPI_INT, in, kCount, MPI_INT, comm));
  TRY(MPI_Alltoall(in, kCount, MPI_INT, in, kCount, MPI_INT, comm));
  TRY(MPI_Reduce_scatter_block(out, out, kCount, MPI_INT, MPI_SUM, comm));
}

// What one rank alone passes: the others are right, and need nothing of it but what is short.
static void alone(MPI_Datatype uncommitted) {
  const int last = size - 1;
  TRY(MPI_Gather(out, kCount, MPI_INT, in, rank == 0 ? -1 : kCount, MPI_INT, 0, comm));
  MPI_Barrier(comm);
  TRY(rank == last ? MPI_Bcast(out, 1, uncommitted, 0, comm)
                   : MPI_Bcast(out, kCount, MPI_INT, 0, comm));
}

// What one rank alone passes, and then makes right: the others get what it sends then, and nothing
// before.
static void corrected(void) {
  const int is_last = rank == size - 1;
  for (int round = 0; round < 2; ++round) {
    for (int each = 0; each < kCount * kMostRanks; ++each) out[each] = 1 + rank, in[each] = 0;
    if (is_last) TRY(MPI_Allgather(out, kCount, MPI_DATATYPE_NULL, in, kCount, MPI_INT, comm));
    MPI_Allgather(out, kCount, MPI_INT, in, kCount, MPI_INT, comm);
    print_sum("gathered");
    if (is_last) TRY(MPI_Alltoall(out, -1, MPI_INT, in, kCount, MPI_INT, comm));
    MPI_Alltoall(out, kCount, MPI_INT, in, kCount, MPI_INT, comm);
    print_sum("exchanged");
    if (is_last) TRY(MPI_Allreduce(out, in, kCount, MPI_DATATYPE_NULL, MPI_SUM, comm));
    MPI_Allreduce(out, in, kCount, MPI_INT, MPI_SUM, comm);
    print_sum("combined");
  }
}

static void call_with_root(int root) {
  TRY(MPI_Bcast(out, kCount, MPI_INT, root, comm));
  TRY(MPI_Reduce(out, in, kCount, MPI_INT, MPI_SUM, root, comm));
  TRY(MPI_Gather(out, kCount, MPI_INT, in, kCount, MPI_INT, root, comm));
  TRY(MPI_Scatter(in, kCount, MPI_INT, out, kCount, MPI_INT, root, comm));
}

static void right(void) {
  int sum = 0;
  for (int each = 0; each < kCount; ++each) out[each] = rank == 0 ? 7 + each : 0;
  MPI_Bcast(out, kCount, MPI_INT, 0, comm);
  int is_right = out[kCount - 1] == 7 + kCount - 1;
  MPI_Allreduce(&is_right, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) printf("right on %d\n", sum);
}

// Roots that do not exist, on a communicator that nothing was called on. The last rank sees its
// errors before the others make any call; then all have the same wrong root, and each another one.
static void wrong_roots(MPI_Errhandler handler) {
  const MPI_Comm former = comm;
  const int last = size - 1;
  MPI_Comm fresh;
  MPI_Comm_dup(former, &fresh);
  comm = fresh;
  MPI_Comm_set_errhandler(comm, handler);
  if (rank == last) {
    call_with_root(size);
    for (int each = 0; each < last; ++each) MPI_Send(&rank, 1, MPI_INT, each, 0, MPI_COMM_WORLD);
  } else {
    int from = -1;
    MPI_Recv(&from, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const int alike[] = {size, 1000, -1, -9, MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ROOT};
  for (size_t each = 0; each < sizeof alike / sizeof *alike; ++each) call_with_root(alike[each]);
  call_with_root(1000 + rank);
  call_with_root(-10 - rank);
  right();
  comm = former;
  MPI_Comm_free(&fresh);
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Datatype uncommitted;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char path[4096];
  snprintf(path, sizeof path, "%s/rank%d", argc > 1 ? argv[1] : ".", rank);
  if (freopen(path, "w", stdout) == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_call, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Type_contiguous(kCount, MPI_INT, &uncommitted);
  wrong_roots(handler);
  alike(uncommitted);
  if (argc > 2) null_buffers();
  right();
  corrected();
  alone(uncommitted);
  fflush(stdout);
  // What has not come is the business of no other call.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Abort(MPI_COMM_WORLD, 0);
  return 0;
}
