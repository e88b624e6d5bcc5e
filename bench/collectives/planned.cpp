// SPDX-License-Identifier: Apache-2.0
// Collectives that follow a schedule of ours, by our executors.
#include <numeric>
#include <vector>

#include "collectives.hpp"
#include "operations.hpp"

namespace bench {
namespace {

namespace ours = fairlead::collectives;

const ours::Schedule* plan = nullptr;  // SMPI keeps one for each rank.

/// Rank i is on host i.
ours::Members& members(MPI_Comm comm) {
  ours::Members* found = ours::Members::find(comm);
  if (found == nullptr) {
    int num_ranks = 0;
    MPI_Comm_size(comm, &num_ranks);
    std::vector<int> host_of_rank(static_cast<std::size_t>(num_ranks));
    std::iota(host_of_rank.begin(), host_of_rank.end(), 0);
    if (ours::Members::attach(comm, host_of_rank, found) != MPI_SUCCESS) MPI_Abort(comm, 1);
  }
  return *found;
}

}  // namespace

Collectives planned(const ours::Schedule& schedule) {
  plan = &schedule;
  return {
      .bcast =
          [](void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
            return ours::bcast(*plan, members(comm), buffer, count, type, root);
          },
      .reduce =
          [](const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
             MPI_Comm comm) {
            return ours::reduce(*plan, members(comm), out, in, count, type, op, root);
          },
      .allreduce =
          [](const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
            return ours::allreduce(*plan, members(comm), out, in, count, type, op);
          },
      .scatter =
          [](const void* out, int count, MPI_Datatype type, void* in, int count_in,
             MPI_Datatype type_in, int root, MPI_Comm comm) {
            return ours::scatter(*plan, members(comm), out, count, type, in, count_in, type_in,
                                 root);
          },
      .gather =
          [](const void* out, int count, MPI_Datatype type, void* in, int count_in,
             MPI_Datatype type_in, int root, MPI_Comm comm) {
            return ours::gather(*plan, members(comm), out, count, type, in, count_in, type_in,
                                root);
          },
      .allgather =
          [](const void* out, int count, MPI_Datatype type, void* in, int count_in,
             MPI_Datatype type_in, MPI_Comm comm) {
            return ours::allgather(*plan, members(comm), out, count, type, in, count_in, type_in);
          },
      .reduce_scatter =
          [](const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op op,
             MPI_Comm comm) {
            return ours::reduce_scatter(*plan, members(comm), out, in, counts, type, op);
          },
      .alltoall =
          [](const void* out, int count, MPI_Datatype type, void* in, int count_in,
             MPI_Datatype type_in, MPI_Comm comm) {
            return ours::alltoall(*plan, members(comm), out, count, type, in, count_in, type_in);
          },
      .barrier = [](MPI_Comm comm) { return ours::barrier(*plan, members(comm)); },
  };
}

}  // namespace bench
