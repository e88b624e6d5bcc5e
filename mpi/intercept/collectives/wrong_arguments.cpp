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

bool may_take_part(Operation operation) {
  return operation == Operation::bcast || operation == Operation::gather ||
         operation == Operation::scatter;
}

int take_part(const executors::Schedule& schedule, executors::Members& members,
              const CollectiveCall& call) noexcept {
  return executors::guarded([&]() -> int {
    const auto block = static_cast<std::size_t>(call.bytes);
    const int length = static_cast<int>(block);
    const MPI_Datatype byte = byte_type();
    std::vector<std::byte> one(block);
    if (call.operation == Operation::bcast) {
      return executors::bcast(schedule, members, one.data(), length, byte, call.root);
    }
    std::vector<std::byte> all(block * static_cast<std::size_t>(members.num_ranks()));
    if (call.operation == Operation::gather) {
      return executors::gather(schedule, members, one.data(), length, byte, all.data(), length,
                               byte, call.root);
    }
    return executors::scatter(schedule, members, all.data(), length, byte, one.data(), length, byte,
                              call.root);
  });
}

}  // namespace fairlead::intercept
