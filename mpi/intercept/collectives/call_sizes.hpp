// SPDX-License-Identifier: Apache-2.0
// How long the blocks of a collective are, and how many elements its buffers have.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>
#include <vector>

#include "collectives/host_copy.hpp"
#include "members.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

/// Bytes of a message, the same on all ranks whatever the type; 0 where an argument is wrong, which
/// the MPI then reports.
[[nodiscard]] inline std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == datatype_null()) return 0;
  if (mpi().Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  const auto bytes = static_cast<std::uint64_t>(count);
  const auto each = static_cast<std::uint64_t>(size);
  return bytes > UINT64_MAX / each ? UINT64_MAX : bytes * each;
}

/// The sum of all counts; -1 where one of them is wrong, or is too large for one message.
template <class Count>
[[nodiscard]] MPI_Count total_of(const Count counts[], int num_ranks) {
  if (counts == nullptr) return -1;
  MPI_Count total = 0;
  for (int rank = 0; rank < num_ranks; ++rank) {
    if (counts[rank] < 0 || counts[rank] > INT_MAX) return -1;
    total += counts[rank];
  }
  return total;
}

/// The mean block, rounded up; 0 also where all of them together are too long for one message.
template <class Count>
[[nodiscard]] inline std::uint64_t mean_bytes_of(const Count counts[], int num_ranks,
                                                 MPI_Datatype type) {
  const MPI_Count total = total_of(counts, num_ranks);
  const std::uint64_t bytes = bytes_of(total, type);
  if (bytes > INT_MAX || num_ranks == 0) return 0;
  const auto divisor = static_cast<std::uint64_t>(num_ranks);
  return (bytes + divisor - 1) / divisor;
}

/// No count of what follows a schedule is beyond an int, since no message is.
template <class Count>
[[nodiscard]] inline int narrow(Count count) {
  return static_cast<int>(count);
}

template <class Count>
[[nodiscard]] std::vector<int> narrow(const Count counts[], int num_ranks) {
  return {counts, counts + num_ranks};
}

/// Pieces of a buffer that has one block.
template <class Count>
[[nodiscard]] auto one_block(Count count) {
  return [count] { return blocks(1, narrow(count)); };
}

/// Pieces of a buffer that has a block of each rank.
template <class Count>
[[nodiscard]] auto block_of_each(const fairlead::collectives::Members& members, Count count) {
  return [num_ranks = members.num_ranks(), count] { return blocks(num_ranks, narrow(count)); };
}

}  // namespace fairlead::intercept
