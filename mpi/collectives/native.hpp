// SPDX-License-Identifier: Apache-2.0
// The forms that leave the messages to the MPI: its own collectives in groups, or in a better
// order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "members.hpp"

namespace fairlead::collectives {

/// @param comm_of_level  `Members::comms_of_levels`
int levels_bcast(std::span<const MPI_Comm> comm_of_level, std::byte* message,
                 std::uint64_t num_bytes);
/// @param own, result  the same address for MPI_IN_PLACE; `result` counts at the root only
int levels_reduce(std::span<const MPI_Comm> comm_of_level, const Reduction& reduction,
                  const void* own, void* result, bool is_root, Buffers& buffers);

/// Blocks of one length, by the old ranks; `all` counts at the root only.
int native_gather(const InOrder& order, int root, const std::byte* own, std::byte* all,
                  std::uint64_t block_bytes, Buffers& buffers);
int native_scatter(const InOrder& order, int root, const std::byte* all, std::byte* own,
                   std::uint64_t block_bytes, Buffers& buffers);
/// `all` holds this process's block at first, and all in the end.
int native_allgather(const InOrder& order, int rank, std::byte* all, std::uint64_t block_bytes,
                     Buffers& buffers);
/// @param offsets  of each rank's block, and the end of the last
int native_allgatherv(const InOrder& order, std::byte* all, std::span<const std::uint64_t> offsets);
int native_alltoall(const InOrder& order, const std::byte* out, std::byte* in,
                    std::uint64_t block_bytes, Buffers& buffers);
/// @param counts  elements of each old rank's block, in whose order they lie in `vector`
int native_reduce_scatter(const InOrder& order, std::span<const int> counts,
                          const Reduction& reduction, const void* vector, void* own,
                          Buffers& buffers);

}  // namespace fairlead::collectives
