// SPDX-License-Identifier: Apache-2.0
// The same sum again and again.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

/// Whether the sum of ranks + call is right.
bool adds_up(MPI_Comm comm, int call, int count = 4096) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::vector<int> values(static_cast<std::size_t>(count), rank + call), sums(values.size());
  MPI_Allreduce(values.data(), sums.data(), count, MPI_INT, MPI_SUM, comm);
  const int expected = size * call + size * (size - 1) / 2;
  return std::all_of(sums.begin(), sums.end(), [=](int sum) { return sum == expected; });
}

/// The least of all ranks.
void print_repeated(int num_right) {
  int rank = 0, least = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&num_right, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("repeated %d\n", least);
}

void repeat(int calls) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // The rank in the middle is in both.
  std::array<MPI_Comm, 2> halves{MPI_COMM_NULL, MPI_COMM_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, rank <= size / 2 ? 0 : MPI_UNDEFINED, rank, &halves[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2 ? 0 : MPI_UNDEFINED, -rank, &halves[1]);
  int num_right = 0;
  for (int call = 0; call < calls; ++call) {
    bool is_right = adds_up(MPI_COMM_WORLD, call);
    for (const std::size_t turn : {0U, 1U}) {
      const MPI_Comm comm = halves[(turn + static_cast<std::size_t>(call)) % 2];
      if (comm != MPI_COMM_NULL) is_right = adds_up(comm, call) && is_right;
    }
    num_right += is_right ? 1 : 0;
  }
  print_repeated(num_right);
  for (MPI_Comm& comm : halves) {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
}

void repeat_sizes(int calls, int even_count, int odd_count) {
  int num_right = 0;
  for (int call = 0; call < calls; ++call) {
    num_right += adds_up(MPI_COMM_WORLD, call, call % 2 == 0 ? even_count : odd_count) ? 1 : 0;
  }
  print_repeated(num_right);
}

}  // namespace
