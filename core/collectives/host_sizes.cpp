// SPDX-License-Identifier: Apache-2.0
#include "fairlead/collectives/host_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace fairlead::collectives {

HostSizes host_sizes(Operation operation, std::uint64_t bytes,
                     std::span<const std::int32_t> ranks_of_host) {
  const auto num_ranks = std::accumulate(ranks_of_host.begin(), ranks_of_host.end(), 0.0);
  const double mean_ranks = num_ranks / static_cast<double>(ranks_of_host.size());
  const auto size = static_cast<double>(bytes);
  const auto rounded = [](double value) {
    return static_cast<std::uint64_t>(std::nearbyint(value));
  };
  switch (operation) {
    case Operation::bcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::barrier:
      return {.message_bytes = bytes};
    case Operation::alltoall:
      return {.message_bytes = rounded(size * mean_ranks * mean_ranks)};
    case Operation::gather:
    case Operation::scatter:
    case Operation::allgather:
    case Operation::reduce_scatter:
      break;
  }
  HostSizes sizes{.message_bytes = rounded(size * mean_ranks)};
  if (std::ranges::adjacent_find(ranks_of_host, std::not_equal_to{}) != ranks_of_host.end()) {
    for (const std::int32_t ranks : ranks_of_host) sizes.block_bytes.push_back(size * ranks);
  }
  return sizes;
}

}  // namespace fairlead::collectives
