// SPDX-License-Identifier: Apache-2.0
// How large arrays must be so that memory is measured, and not the caches.
#pragma once

#include <cstdint>
#include <optional>

#include "fairlead/host/caches.hpp"

namespace fairlead {

/// Arrays are this many times as large as the caches, all arrays of a thread together. A cache that
/// replaces lines at random then still has 2 % of what is read again (the solution of
/// h = exp(-4 (1 - h))), one that replaces the least recently used lines has nothing.
inline constexpr double kUsualCacheRatio = 4.0;
/// Where memory or time is short, at least so many times: 20 % by the same equation.
inline constexpr double kLeastCacheRatio = 2.0;

/// Sizes of the arrays of the threads of one host.
struct ArrayBytes {
  std::uint64_t of_first;  ///< the first thread's, which also measures one core
  std::uint64_t of_other;  ///< of each other thread
  double cache_ratio;      ///< how many times the size of the caches this is
};

/// Sizes by which all threads together exceed all caches, and the first one alone those of its CPU.
/// @param num_threads  >= 1
/// @param most_bytes  what all arrays together may take
/// @return none where they would not be larger than the caches by `kLeastCacheRatio`
[[nodiscard]] std::optional<ArrayBytes> choose_array_bytes(const CacheBytes& caches,
                                                           int num_threads,
                                                           std::uint64_t most_bytes);

}  // namespace fairlead
