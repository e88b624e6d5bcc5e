// SPDX-License-Identifier: Apache-2.0
#include "collectives/wrong_arguments.hpp"

#include <cstddef>
#include <vector>

#include "guarded.hpp"
#include "operations.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

namespace executors = fairlead::collectives;
using executors::Operation;

namespace {

/// @param one, all  a block, and one of each rank
int by_schedule(const Followed& found, const CollectiveCall& call, void* one, void* all,
                int length) {
  const executors::Schedule& schedule = *found.schedule;
  executors::Members& members = *found.members;
  const MPI_Datatype byte = byte_type();
  if (call.operation == Operation::bcast) {
    return executors::bcast(schedule, members, one, length, byte, call.root);
  }
  if (call.operation == Operation::gather) {
    return executors::gather(schedule, members, one, length, byte, all, length, byte, call.root);
  }
  return executors::scatter(schedule, members, all, length, byte, one, length, byte, call.root);
}

int by_mpi(MPI_Comm comm, const CollectiveCall& call, void* one, void* all, int length) {
  const MPI_Datatype byte = byte_type();
  if (call.operation == Operation::bcast) return mpi().Bcast(one, length, byte, call.root, comm);
  if (call.operation == Operation::gather) {
    return mpi().Gather(one, length, byte, all, length, byte, call.root, comm);
  }
  return mpi().Scatter(all, length, byte, one, length, byte, call.root, comm);
}

}  // namespace

bool may_take_part(Operation operation) {
  return operation == Operation::bcast || operation == Operation::gather ||
         operation == Operation::scatter;
}

int take_part(MPI_Comm comm, const Followed& found, const CollectiveCall& call) noexcept {
  return executors::guarded([&]() -> int {
    const auto block = static_cast<std::size_t>(call.bytes);
    const auto num_ranks = static_cast<std::size_t>(found.members->num_ranks());
    std::vector<std::byte> one(block);
    std::vector<std::byte> all(call.operation == Operation::bcast ? 0 : block * num_ranks);
    const auto length = static_cast<int>(block);
    return found.schedule == nullptr ? by_mpi(comm, call, one.data(), all.data(), length)
                                     : by_schedule(found, call, one.data(), all.data(), length);
  });
}

}  // namespace fairlead::intercept
