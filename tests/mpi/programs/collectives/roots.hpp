// SPDX-License-Identifier: Apache-2.0
// Calls by so many roots and of so many sizes that each could have communicators of its own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "errors.hpp"

namespace {

/// Each size class and each root has a schedule of its own.
void call_by_all_roots(MPI_Comm comm, int calls) {
  int rank = 0, size = 0, num_errors = 0, num_right = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<int> values, sums;
  for (int call = 0; call < calls; ++call) {
    const int root = call % size;
    const int count = 1 << (call / size % 12);
    values.assign(static_cast<std::size_t>(count), rank == root ? call : -1);
    sums.assign(values.size(), 0);
    const int codes[] = {
        MPI_Bcast(values.data(), count, MPI_INT, root, comm),
        MPI_Reduce(values.data(), sums.data(), count, MPI_INT, MPI_SUM, root, comm)};
    for (const int code : codes) num_errors += code == MPI_SUCCESS ? 0 : 1;
    const bool has_sum = rank != root || sums.back() == size * call;
    num_right += values.back() == call && has_sum ? 1 : 0;
  }
  print_errors(num_errors, num_right);
}

/// Each process uses up its own; the others' are the same.
void call_where_communicators_are_few(int calls) {
  constexpr std::size_t kMost = 4000;  // None of the MPIs with a limit below it has a greater one.
  constexpr std::size_t kLeft = 4;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> comms;
  MPI_Comm made = MPI_COMM_NULL;
  while (comms.size() < kMost && MPI_Comm_dup(MPI_COMM_SELF, &made) == MPI_SUCCESS) {
    comms.push_back(made);
  }
  for (std::size_t freed = 0; freed < kLeft; ++freed) {
    MPI_Comm_free(&comms.back());
    comms.pop_back();
  }
  call_by_all_roots(MPI_COMM_WORLD, calls);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace
