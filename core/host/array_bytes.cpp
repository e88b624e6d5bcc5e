// SPDX-License-Identifier: Apache-2.0
// The largest ratio to the caches that memory allows.
#include "fairlead/host/array_bytes.hpp"

#include <algorithm>
#include <cassert>

namespace fairlead {

std::optional<ArrayBytes> choose_array_bytes(const CacheBytes& caches, int num_threads,
                                             std::uint64_t most_bytes) {
  assert(num_threads >= 1);
  const double share_bytes = static_cast<double>(caches.of_all_cpus) / num_threads;
  const double first_bytes = std::max(share_bytes, static_cast<double>(caches.of_one_cpu));
  const double once_bytes = first_bytes + (num_threads - 1) * share_bytes;
  const double ratio = std::min(kUsualCacheRatio, static_cast<double>(most_bytes) / once_bytes);
  if (!(ratio >= kLeastCacheRatio)) return std::nullopt;
  return ArrayBytes{.of_first = static_cast<std::uint64_t>(ratio * first_bytes),
                    .of_other = static_cast<std::uint64_t>(ratio * share_bytes),
                    .cache_ratio = ratio};
}

}  // namespace fairlead
