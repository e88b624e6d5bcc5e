/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided calls whose bytes are known. Every window has the ranks in reversed order, and each
 * rank's target is the next one of the window; test_trace_one_sided.py has the sums. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_BYTES = 4096 };

static int rank, size;
static char origin[NUM_BYTES], result[NUM_BYTES];

/* To the target: 24, 16, 8, 8, 4. From the target: 20, 8, 32, 8, 8, 4. */
static void without_requests(int target, MPI_Aint at, MPI_Win win) {
  MPI_Datatype every_second;
  MPI_Type_vector(5, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Put(origin, 3, MPI_DOUBLE, target, at, 24, MPI_BYTE, win);
  MPI_Get(result, 5, MPI_INT, target, at + 64, 1, every_second, win);
  MPI_Accumulate(origin, 2, MPI_DOUBLE, target, at + 128, 2, MPI_DOUBLE, MPI_SUM, win);
  MPI_Get_accumulate(origin, 1, MPI_DOUBLE, result + 64, 1, MPI_DOUBLE, target, at + 192, 1,
                     MPI_DOUBLE, MPI_SUM, win);
  MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, result + 128, 4, MPI_DOUBLE, target, at + 256, 4,
                     MPI_DOUBLE, MPI_NO_OP, win);
  MPI_Fetch_and_op(origin, result + 192, MPI_DOUBLE, target, at + 320, MPI_SUM, win);
  MPI_Fetch_and_op(NULL, result + 256, MPI_DOUBLE, target, at + 320, MPI_NO_OP, win);
  MPI_Compare_and_swap(origin, origin + 64, result + 320, MPI_INT, target, at + 384, win);
  MPI_Win_flush(target, win);
  MPI_Type_free(&every_second);
}

/* To the target: 12, 4, 16. From the target: 40, 16. */
static void with_requests(int target, MPI_Aint at, MPI_Win win) {
  MPI_Request requests[4];
  MPI_Rput(origin, 3, MPI_INT, target, at, 3, MPI_INT, win, &requests[0]);
  MPI_Rget(result, 5, MPI_DOUBLE, target, at + 64, 5, MPI_DOUBLE, win, &requests[1]);
  MPI_Raccumulate(origin, 1, MPI_INT, target, at + 128, 1, MPI_INT, MPI_SUM, win, &requests[2]);
  MPI_Rget_accumulate(origin, 2, MPI_DOUBLE, result + 64, 2, MPI_DOUBLE, target, at + 192, 2,
                      MPI_DOUBLE, MPI_SUM, win, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush(target, win);
}

/* Nothing goes anywhere, and the types of what goes nowhere are not asked. */
static void nothing(int target, MPI_Aint at, MPI_Win win) {
  MPI_Put(origin, 0, MPI_DOUBLE, target, at, 0, MPI_DOUBLE, win);
  MPI_Get(result, 0, MPI_DOUBLE, target, at, 0, MPI_DOUBLE, win);
  MPI_Put(origin, 8, MPI_DOUBLE, MPI_PROC_NULL, at, 8, MPI_DOUBLE, win);
  MPI_Get(result, 8, MPI_DOUBLE, MPI_PROC_NULL, at, 8, MPI_DOUBLE, win);
  MPI_Fetch_and_op(origin, result, MPI_DOUBLE, MPI_PROC_NULL, at, MPI_SUM, win);
  MPI_Compare_and_swap(origin, origin, result, MPI_INT, MPI_PROC_NULL, at, win);
}

#if MPI_VERSION >= 4
/* To the target: 40. From the target: 48. */
static void large_counts(int target, MPI_Aint at, MPI_Win win) {
  MPI_Put_c(origin, 5, MPI_DOUBLE, target, at, 5, MPI_DOUBLE, win);
  MPI_Get_c(result, 6, MPI_DOUBLE, target, at, 6, MPI_DOUBLE, win);
  MPI_Win_flush(target, win);
}
#else
static void large_counts(int target, MPI_Aint at, MPI_Win win) {
  (void)target, (void)at, (void)win;
}
#endif

static void use(const char* calls, MPI_Aint at, MPI_Comm comm, MPI_Win win) {
  int index, num_targets;
  MPI_Comm_rank(comm, &index);
  MPI_Comm_size(comm, &num_targets);
  int target = (index + 1) % num_targets;
  MPI_Win_lock_all(0, win);
  if (strcmp(calls, "without_requests") == 0) without_requests(target, at, win);
  if (strcmp(calls, "with_requests") == 0) with_requests(target, at, win);
  if (strcmp(calls, "nothing") == 0) nothing(target, at, win);
  if (strcmp(calls, "large_counts") == 0) large_counts(target, at, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* The address of the next rank's memory, which is its place in a dynamic window. */
static MPI_Aint address_at_next(void* memory, MPI_Comm comm) {
  int index, num_targets;
  MPI_Comm_rank(comm, &index);
  MPI_Comm_size(comm, &num_targets);
  MPI_Aint own, *all = malloc((size_t)num_targets * sizeof(MPI_Aint));
  MPI_Get_address(memory, &own);
  MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, comm);
  MPI_Aint next = all[(index + 1) % num_targets];
  free(all);
  return next;
}

/* A window over the communicator; `kind` says how its memory is made. */
static void use_window(const char* kind, const char* calls, MPI_Comm comm) {
  MPI_Win win;
  void* memory = calloc(1, NUM_BYTES);
  if (strcmp(kind, "create") == 0) {
    MPI_Win_create(memory, NUM_BYTES, 1, MPI_INFO_NULL, comm, &win);
    use(calls, 0, comm, win);
  } else if (strcmp(kind, "dynamic") == 0) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_attach(win, memory, NUM_BYTES);
    use(calls, address_at_next(memory, comm), comm, win);
  } else {
    void* made;
    if (strcmp(kind, "shared") == 0) {
      MPI_Win_allocate_shared(NUM_BYTES, 1, MPI_INFO_NULL, comm, &made, &win);
    } else {
      MPI_Win_allocate(NUM_BYTES, 1, MPI_INFO_NULL, comm, &made, &win);
    }
    use(calls, 0, comm, win);
  }
  free(memory);
}

/* In turn t rank 0 of a window over the ranks rotated by t puts t + 1 bytes into rank 1's part. The
 * handle of a window that is freed comes back for the next. */
static void reused_handles(void) {
  for (int turn = 0; turn < 2 * size; ++turn) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + turn) % size, &comm);
    int index;
    MPI_Comm_rank(comm, &index);
    MPI_Win win;
    MPI_Win_create(result, NUM_BYTES, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    if (index == 0) MPI_Put(origin, turn + 1, MPI_BYTE, 1, 0, turn + 1, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "reused_handles") == 0) {
    reused_handles();
  } else {
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    use_window(argv[1], argv[2], reversed);
    MPI_Comm_free(&reversed);
  }
  MPI_Finalize();
  return 0;
}
