// SPDX-License-Identifier: Apache-2.0
// From the blocks of ranks, as calls have them, to those of hosts, between which schedules go.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/collectives/schedule.hpp"

namespace fairlead::intercept {

/// Sizes as planning takes them (fairlead::collectives::Request).
struct PlannedSizes {
  std::uint64_t message_bytes = 0;
  /// Of each host where they differ, or else empty.
  std::vector<double> block_bytes{};
};

/// The same sizes as `fairlead tune` plans for, so that what runs is what was timed.
/// @param bytes          whole vector of bcast, reduce and allreduce, a rank's block of the others
/// @param ranks_of_host  ranks on each host, at least one host
inline PlannedSizes planned_sizes(fairlead::collectives::Operation operation, std::uint64_t bytes,
                                  std::span<const int> ranks_of_host) {
  using fairlead::collectives::Operation;
  double num_ranks = 0.0;
  for (const int ranks : ranks_of_host) num_ranks += ranks;
  const double mean_ranks = num_ranks / static_cast<double>(ranks_of_host.size());
  const auto rounded = [](double size) { return static_cast<std::uint64_t>(std::nearbyint(size)); };
  const auto size = static_cast<double>(bytes);
  switch (operation) {
    case Operation::bcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::barrier:
      return {.message_bytes = bytes};
    case Operation::alltoall:
      // A block goes from each rank of a host to each of the other one.
      return {.message_bytes = rounded(size * mean_ranks * mean_ranks)};
    case Operation::gather:
    case Operation::scatter:
    case Operation::allgather:
    case Operation::reduce_scatter:
      break;
  }
  PlannedSizes sizes{.message_bytes = rounded(size * mean_ranks)};
  if (std::ranges::adjacent_find(ranks_of_host, std::ranges::not_equal_to{}) !=
      ranks_of_host.end()) {
    for (const int ranks : ranks_of_host) sizes.block_bytes.push_back(size * ranks);
  }
  return sizes;
}

}  // namespace fairlead::intercept
