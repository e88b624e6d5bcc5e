// SPDX-License-Identifier: Apache-2.0
// Traffic and costs as the small integers that Scotch computes with.
#pragma once

#include <cstdint>
#include <vector>

#include "fairlead/matrices.hpp"
#include "mapping/scotch/rank_graph.hpp"

namespace fairlead {

/// Weights and distances whose products can be added up in 32 bits.
struct IntegerProblem {
  std::vector<std::int32_t> weights;    ///< of each arc, in the order of the graph, each >= 1
  std::vector<std::int32_t> distances;  ///< (H, H), symmetric, diagonal 0, others >= 1
};

/// The most that the sum over all arcs of weight * largest distance may come to. Scotch adds such
/// products in its integers, which are 32 bits wide in Debian's build, and does not detect
/// overflow; half of 2^31 leaves room for differences of two sums.
inline constexpr double kLargestSum = 1U << 30U;

/// Scales the traffic and the costs of the hosts. A host's own cost is subtracted first: Scotch
/// ignores it, and if it is the same on all hosts the difference is constant.
/// @param largest_distance  the largest cost after scaling; less if the sum would overflow
[[nodiscard]] IntegerProblem scale_to_integers(const RankGraph& graph, const HostMatrix& cost,
                                               double largest_distance);

}  // namespace fairlead
