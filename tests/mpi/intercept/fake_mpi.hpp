// SPDX-License-Identifier: Apache-2.0
// Stands in for the program's MPI library in a test program, whose one file includes this: its
// functions are those that the test sets.
#pragma once

#include <mpi.h>

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

constinit Mpi detail::bound_mpi;

void require_bound(const void*, const char*) noexcept {}
MPI_Comm comm_world() noexcept {
  return {};
}
MPI_Op op_no_op() noexcept {
  return {};
}

}  // namespace fairlead::intercept

namespace fake {

/// World rank of the only member of every communicator.
inline int world_rank = 0;

template <class Result, class... Parameters>
Result succeed(Parameters...) {
  return MPI_SUCCESS;
}

template <class Result, class... Parameters>
void let_succeed(Result (*&function)(Parameters...)) {
  function = &succeed<Result, Parameters...>;
}

inline int size_of_comm(MPI_Comm, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}

inline int size_of_group(MPI_Group, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}

inline int translate_ranks(MPI_Group, int, const int*, MPI_Group, int* ranks) {
  *ranks = world_rank;
  return MPI_SUCCESS;
}

/// Sets what is asked of a communicator: this rank is alone in each.
inline void set_communicators() {
  fairlead::intercept::Mpi& mpi = fairlead::intercept::detail::bound_mpi;
  let_succeed(mpi.Comm_test_inter);
  let_succeed(mpi.Comm_rank);
  let_succeed(mpi.Comm_group);
  let_succeed(mpi.Topo_test);
  let_succeed(mpi.Group_free);
  mpi.Comm_size = &size_of_comm;
  mpi.Group_size = &size_of_group;
  mpi.Group_translate_ranks = &translate_ranks;
}

inline MPI_Comm some_comm() {
  return (MPI_Comm)0x440;
}

}  // namespace fake
