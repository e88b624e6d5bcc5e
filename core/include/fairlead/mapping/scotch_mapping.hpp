// SPDX-License-Identifier: Apache-2.0
// Placements by Scotch's recursive bipartitioning: CloudMap's mapping (section IV-C), and ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// Resolution of distances: finer ones did not give better placements, and 0..10, as CloudMap's
/// published script has it, gave slightly worse ones on average (docs/design/scotch.md).
inline constexpr double kLargestDistance = 1000.0;

/// How Scotch is called.
struct ScotchOptions {
  std::uint32_t seed = 0;  ///< same seed, same answer
  int num_tries = 1;       ///< placements to make for each shape, from seeds that follow `seed`
  /// CloudMap's mapping: Scotch's own settings, and with free slots only ranks that spread.
  bool is_as_published = false;
  double largest_distance = kLargestDistance;  ///< the largest cost after scaling, >= 1
};

/// Placements of T ranks on H hosts, each within the slots; the caller picks one by its objective.
/// With free slots, ranks spread over all hosts and ranks packed on few hosts are both tried,
/// unless the options say otherwise.
/// Thread-safe, one caller at a time: the state of Scotch's random numbers is global.
/// @param traffic  (T, T); both directions of a pair are added up
/// @param cost  cost of a unit between hosts, (H, H), without `nan`; the mean of both directions
/// @param slots  ranks that each host may hold, length H
/// @pre T >= 1 and T <= sum of slots
/// @throws Error  Scotch failed; the message is Scotch's own
[[nodiscard]] std::vector<std::vector<std::int64_t>> scotch_placements(
    const RankMatrix& traffic, const HostMatrix& cost, std::span<const std::int64_t> slots,
    const ScotchOptions& options);

}  // namespace fairlead
