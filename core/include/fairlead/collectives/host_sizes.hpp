// SPDX-License-Identifier: Apache-2.0
// From the sizes of a call, which is of ranks, to those of a plan, which is of hosts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/collectives/schedule.hpp"

namespace fairlead::collectives {

/// Sizes as `Request` takes them.
struct HostSizes {
  std::uint64_t message_bytes = 0;
  /// Block size of each host where they differ, or else empty.
  std::vector<double> block_bytes{};
};

/// A host's block is that of all its ranks; of an alltoall a block goes between each two ranks of
/// two hosts, and hosts count as if they had equally many.
/// @param bytes          whole vector of bcast, reduce and allreduce, a rank's block of the others
/// @param ranks_of_host  ranks that take part on each host, at least one host
[[nodiscard]] HostSizes host_sizes(Operation operation, std::uint64_t bytes,
                                   std::span<const std::int32_t> ranks_of_host);

}  // namespace fairlead::collectives
