// SPDX-License-Identifier: Apache-2.0
#include "collectives/stand_in.hpp"

#include <cstddef>
#include <vector>

#include "guarded.hpp"
#include "operations.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

namespace executors = fairlead::collectives;
using executors::Operation;

int stand_in(const executors::Schedule& schedule, executors::Members& members,
             const CollectiveCall& call) noexcept {
  return executors::guarded([&]() -> int {
    const auto block = static_cast<std::size_t>(call.bytes);
    const int length = static_cast<int>(block);
    std::vector<std::byte> one(block);
    const auto all = [&] {
      return std::vector<std::byte>(block * static_cast<std::size_t>(members.num_ranks()));
    };
    const MPI_Datatype byte = byte_type();
    switch (call.operation) {
      case Operation::bcast:
        return executors::bcast(schedule, members, one.data(), length, byte, call.root);
      case Operation::gather:
        return executors::gather(schedule, members, one.data(), length, byte, all().data(), length,
                                 byte, call.root);
      case Operation::scatter:
        return executors::scatter(schedule, members, all().data(), length, byte, one.data(), length,
                                  byte, call.root);
      case Operation::allgather:
        return executors::allgather(schedule, members, one.data(), length, byte, all().data(),
                                    length, byte);
      case Operation::alltoall:
        return executors::alltoall(schedule, members, all().data(), length, byte, all().data(),
                                   length, byte);
      default:
        return MPI_ERR_INTERN;
    }
  });
}

}  // namespace fairlead::intercept
