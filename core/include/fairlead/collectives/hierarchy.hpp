// SPDX-License-Identifier: Apache-2.0
// CMPI's performance hierarchy: nested groups of hosts that are close for messages of one size.
#pragma once

#include <cstdint>
#include <vector>

#include "fairlead/mapping/placement_cost.hpp"

namespace fairlead::collectives {

struct HierarchyOptions {
  double message_bytes = 0.0;
  double factor = 4.0;        ///< k: a level is this many times as slow as the one before
  std::int32_t max_span = 1;  ///< most levels between the fastest and the slowest pair of a group
};

struct Hierarchy {
  /// Group of each host on each level, lowest level first; the last level is one group.
  std::vector<std::vector<std::int32_t>> group_of_host;
  std::vector<double> transfer_s;           ///< (H, H), diagonal 0
  std::vector<std::int32_t> level_of_pair;  ///< (H, H): discretised transfer time, diagonal 0
  double asymmetry_ratio = 0.0;  ///< share of pairs of hosts whose two directions differ in level
};

/// Level l of x with min * k^l <= x < min * k^(l + 1). Source: CMPI, section 4.1.
[[nodiscard]] std::int32_t discrete_level(double value, double least, double factor);

/// Where pairs share a bottleneck, each is taken as it is while all hosts that send through it do.
/// @throws InputError  factor <= 1, or max_span < 0
/// @throws TopologyError  a pair was not measured
[[nodiscard]] Hierarchy build_hierarchy(const MeasuredNetwork& network,
                                        const HierarchyOptions& options);

}  // namespace fairlead::collectives
