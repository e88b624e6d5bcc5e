/* SPDX-License-Identifier: Apache-2.0
 * Every rank describes the same elements by another type (MPI 4.0, 6.1: signatures have to match,
 * not types): the root by a vector with holes, odd ranks by blocks, the others by single ints. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 20000, kHole = -1 };

static int rank, num_ranks, num_wrong;

/* The rank's buffer: what it has for each element, and where that stands. */
struct buffer {
  MPI_Datatype type;
  int count, step;
  int* values;
};

static struct buffer made(int form, int count) {
  struct buffer made = {MPI_INT, count, 1, 0};
  if (form == 0) {
    MPI_Type_vector(count, 1, 2, MPI_INT, &made.type);
    made.count = 1;
    made.step = 2;
  } else if (form == 1) {
    MPI_Type_contiguous(count, MPI_INT, &made.type);
    made.count = 1;
  }
  if (made.type != MPI_INT) MPI_Type_commit(&made.type);
  made.values = malloc(sizeof(int) * (size_t)(2 * count + 1));
  for (int at = 0; at <= 2 * count; ++at) made.values[at] = kHole;
  return made;
}

static void expect(const struct buffer* buffer, int count, int first, const char* call) {
  for (int at = 0; at < count; ++at) {
    if (buffer->values[at * buffer->step] == first + at) continue;
    if (num_wrong++ < 3) {
      printf("rank %d: %s of %d: element %d is %d\n", rank, call, count, at,
             buffer->values[at * buffer->step]);
    }
    return;
  }
  for (int at = 1; buffer->step == 2 && at < 2 * count; at += 2) {
    if (buffer->values[at] != kHole && num_wrong++ < 3) printf("rank %d: a hole is filled\n", rank);
  }
}

static void release(struct buffer* buffer) {
  if (buffer->type != MPI_INT) MPI_Type_free(&buffer->type);
  free(buffer->values);
}

static void broadcast(int root, int count, int form) {
  struct buffer own = made(form, count);
  for (int at = 0; rank == root && at < count; ++at) own.values[at * own.step] = 7 * root + at;
  MPI_Bcast(own.values, own.count, own.type, root, MPI_COMM_WORLD);
  expect(&own, count, 7 * root, "bcast");
  release(&own);
}

/* Blocks of `count`: the root's are ints, the others' have their form. */
static void gather_and_scatter(int root, int count, int form) {
  struct buffer own = made(form, count);
  int* all = malloc(sizeof(int) * (size_t)(count * num_ranks));
  for (int at = 0; at < count * num_ranks; ++at) all[at] = at;
  MPI_Scatter(all, count, MPI_INT, own.values, own.count, own.type, root, MPI_COMM_WORLD);
  expect(&own, count, count * rank, "scatter");
  for (int at = 0; at < count * num_ranks; ++at) all[at] = kHole;
  MPI_Gather(own.values, own.count, own.type, all, count, MPI_INT, root, MPI_COMM_WORLD);
  struct buffer whole = {MPI_INT, count * num_ranks, 1, all};
  if (rank == root) expect(&whole, count * num_ranks, 0, "gather");
  for (int at = 0; at < count * num_ranks; ++at) all[at] = kHole;
  MPI_Allgather(own.values, own.count, own.type, all, count, MPI_INT, MPI_COMM_WORLD);
  expect(&whole, count * num_ranks, 0, "allgather");
  free(all);
  release(&own);
}

int main(int argc, char** argv) {
  const int counts[] = {1, 3, 100, 1000, 5000, kMost};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  for (size_t each = 0; each < sizeof counts / sizeof *counts; ++each) {
    for (int root = 0; root < num_ranks; ++root) {
      for (int turn = 0; turn < 3; ++turn) {
        const int form = (rank - root + num_ranks + turn) % 3;
        broadcast(root, counts[each], form);
        gather_and_scatter(root, counts[each], form);
      }
    }
  }
  int all_wrong = 0;
  MPI_Reduce(&num_wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all_wrong);
  MPI_Finalize();
  return 0;
}
