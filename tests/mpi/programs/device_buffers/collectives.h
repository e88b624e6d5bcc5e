// SPDX-License-Identifier: Apache-2.0
// All collectives that may follow a schedule, with buffers of kinds that differ by rank.
#pragma once

#include <string.h>

#include "checked.h"

enum { most_ranks = 8, elements = 300 };

static int own_rank, num_ranks, round_number;
static struct buffers sent, received;

// Value that a rank sends in an element.
static double value_of(int rank, int element) {
  return 1000.0 * rank + element + round_number;
}

static double sum_of(int element) {
  double sum = 0;
  for (int rank = 0; rank < num_ranks; ++rank) sum += value_of(rank, element);
  return sum;
}

static double* to_send(int count) {
  double* const buffer = (double*)sent.of_kind[(own_rank + round_number) % num_memory_kinds];
  double* const content = device_alias(buffer);
  for (int index = 0; index < count; ++index) content[index] = value_of(own_rank, index);
  return buffer;
}

static double* to_receive(void) {
  const int kind = (2 * own_rank + round_number / 2) % num_memory_kinds;
  double* const buffer = (double*)received.of_kind[kind];
  memset(device_alias(buffer), 0xff, sizeof(double) * elements * 2 * most_ranks);
  return buffer;
}

// Content for a call in place. @param first  of the elements that are sent
static double* in_place(int at, int first, int count) {
  double* const buffer = to_receive();
  double* const content = device_alias(buffer);
  for (int index = 0; index < count; ++index)
    content[at + index] = value_of(own_rank, first + index);
  return buffer;
}

static const double* content_of(const double* buffer) {
  return device_alias(buffer);
}

static void check_bcast(int root) {
  double* const buffer = own_rank == root ? to_send(elements) : to_receive();
  MPI_Bcast(buffer, elements, MPI_DOUBLE, root, MPI_COMM_WORLD);
  for (int index = 0; index < elements; ++index) {
    require(content_of(buffer)[index] == value_of(root, index), "bcast", index);
  }
  // Each second element of twice as many.
  MPI_Datatype gaps;
  MPI_Type_vector(elements, 1, 2, MPI_DOUBLE, &gaps);
  MPI_Type_commit(&gaps);
  double* const wide = own_rank == root ? to_send(2 * elements) : to_receive();
  const double before = content_of(wide)[1];
  MPI_Bcast(wide, 1, gaps, root, MPI_COMM_WORLD);
  MPI_Type_free(&gaps);
  require(memcmp(&content_of(wide)[1], &before, sizeof before) == 0, "gap of a bcast", 1);
  for (int index = 0; index < elements; ++index) {
    require(content_of(wide)[2 * index] == value_of(root, 2 * index), "bcast with gaps", index);
  }
}

static void check_reductions(int root) {
  double* result = to_receive();
  MPI_Reduce(to_send(elements), result, elements, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  for (int index = 0; own_rank == root && index < elements; ++index) {
    require(content_of(result)[index] == sum_of(index), "reduce", index);
  }
  // With another root in place, MPICH 4.0 ends by a segmentation fault.
  result = own_rank == 0 ? in_place(0, 0, elements) : NULL;
  const void* own = own_rank == 0 ? MPI_IN_PLACE : to_send(elements);
  MPI_Reduce(own, result, elements, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int index = 0; own_rank == 0 && index < elements; ++index) {
    require(content_of(result)[index] == sum_of(index), "reduce in place", index);
  }
  result = to_receive();
  MPI_Allreduce(to_send(elements), result, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int index = 0; index < elements; ++index) {
    require(content_of(result)[index] == sum_of(index), "allreduce", index);
  }
  result = in_place(0, 0, elements);
  MPI_Allreduce(MPI_IN_PLACE, result, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int index = 0; index < elements; ++index) {
    require(content_of(result)[index] == sum_of(index), "allreduce in place", index);
  }
}

static void check_scattered_reductions(void) {
  const int block = elements / num_ranks;
  int counts[most_ranks];
  int first = 0;
  for (int rank = 0; rank < num_ranks; ++rank) {
    counts[rank] = block + rank;
    if (rank < own_rank) first += counts[rank];
  }
  const int total = num_ranks * block + num_ranks * (num_ranks - 1) / 2;
  double* result = to_receive();
  MPI_Reduce_scatter(to_send(total), result, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int index = 0; index < counts[own_rank]; ++index) {
    require(content_of(result)[index] == sum_of(first + index), "reduce_scatter", index);
  }
  result = in_place(0, 0, num_ranks * block);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, result, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int index = 0; index < block; ++index) {
    require(content_of(result)[index] == sum_of(own_rank * block + index),
            "reduce_scatter_block in place", index);
  }
}

static void check_blocks(const double* result, int at, int extent, const char* what) {
  for (int rank = 0; rank < num_ranks; ++rank) {
    for (int index = 0; index < elements; ++index) {
      require(content_of(result)[rank * extent + index] == value_of(rank, at + index), what, index);
    }
  }
}

static void check_gathers(int root) {
  double* result = to_receive();
  MPI_Gather(to_send(elements), elements, MPI_DOUBLE, result, elements, MPI_DOUBLE, root,
             MPI_COMM_WORLD);
  if (own_rank == root) check_blocks(result, 0, elements, "gather");
  result = to_receive();
  MPI_Allgather(to_send(elements), elements, MPI_DOUBLE, result, elements, MPI_DOUBLE,
                MPI_COMM_WORLD);
  check_blocks(result, 0, elements, "allgather");
  result = in_place(own_rank * elements, 0, elements);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, elements, MPI_DOUBLE, MPI_COMM_WORLD);
  check_blocks(result, 0, elements, "allgather in place");
  int counts[most_ranks];
  int places[most_ranks];
  for (int rank = 0; rank < num_ranks; ++rank) {
    counts[rank] = elements;
    places[rank] = rank * (elements + 7);
  }
  result = to_receive();
  MPI_Allgatherv(to_send(elements), elements, MPI_DOUBLE, result, counts, places, MPI_DOUBLE,
                 MPI_COMM_WORLD);
  check_blocks(result, 0, elements + 7, "allgatherv");
}

static void check_scatters(int root) {
  double* result = to_receive();
  MPI_Scatter(to_send(num_ranks * elements), elements, MPI_DOUBLE, result, elements, MPI_DOUBLE,
              root, MPI_COMM_WORLD);
  for (int index = 0; index < elements; ++index) {
    require(content_of(result)[index] == value_of(root, own_rank * elements + index), "scatter",
            index);
  }
  result = to_receive();
  MPI_Alltoall(to_send(num_ranks * elements), elements, MPI_DOUBLE, result, elements, MPI_DOUBLE,
               MPI_COMM_WORLD);
  check_blocks(result, own_rank * elements, elements, "alltoall");
}

static void call_collectives(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  sent = make_buffers(sizeof(double) * elements * 2 * most_ranks);
  received = make_buffers(sizeof(double) * elements * 2 * most_ranks);
  for (round_number = 0; round_number < 8; ++round_number) {
    const int root = round_number % num_ranks;
    check_bcast(root);
    check_reductions(root);
    check_scattered_reductions();
    check_gathers(root);
    check_scatters(root);
  }
}
