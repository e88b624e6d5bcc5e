// SPDX-License-Identifier: Apache-2.0
// Collective operations with MPI's own parameters: the MPI's own, or by a schedule.
#pragma once

#include <mpi.h>

#include <functional>

#include "operations.hpp"

namespace fairlead::tune {

/// One algorithm of each operation. All return an MPI error code.
struct Calls {
  std::function<int(void*, int, MPI_Datatype, int root)> bcast;
  std::function<int(const void*, void*, int, MPI_Datatype, MPI_Op, int root)> reduce;
  std::function<int(const void*, void*, int, MPI_Datatype, int root)> gather;
  std::function<int(const void*, void*, int, MPI_Datatype, int root)> scatter;
  std::function<int(const void*, void*, int, MPI_Datatype)> allgather;
  std::function<int(const void*, void*, int, MPI_Datatype, MPI_Op)> allreduce;
  std::function<int(const void*, void*, const int*, MPI_Datatype, MPI_Op)> reduce_scatter;
  std::function<int(const void*, void*, int, MPI_Datatype)> alltoall;
  std::function<int()> barrier;
};

/// The MPI's own on this communicator, which must live as long.
[[nodiscard]] Calls native_calls(MPI_Comm comm);

/// By the schedule, which must live as long as the members.
[[nodiscard]] Calls planned_calls(const collectives::Schedule& schedule,
                                  collectives::Members& members);

}  // namespace fairlead::tune
