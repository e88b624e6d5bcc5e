// SPDX-License-Identifier: Apache-2.0
// CMPI's performance hierarchy: groups of hosts that are close for messages of one size.
#pragma once

#include <cstdint>
#include <vector>

#include "fairlead/mapping/placement_cost.hpp"

namespace fairlead::collectives {

struct HierarchyOptions {
  double message_bytes = 0.0;
  double factor = 4.0;        ///< k: a level is as wide as k times the least value
  std::int32_t max_span = 1;  ///< T_span: most hosts by which the groups of a level differ
};

struct Hierarchy {
  /// Group of each host on each level, lowest level first; the last level is one group. A group
  /// need not lie within one group of the next level, since hosts are grouped anew on each.
  std::vector<std::vector<std::int32_t>> group_of_host;
  std::vector<double> transfer_s;           ///< M before discretisation, (H, H), diagonal 0
  std::vector<std::int32_t> level_of_pair;  ///< M after it, (H, H), diagonal 0
  /// Share of pairs of hosts whose two directions differ in level.
  double latency_asymmetry_ratio = 0.0;
  double bandwidth_asymmetry_ratio = 0.0;
};

/// Level l of a value x with l <= x / (k min) < l + 1. Source: CMPI, section 3.
[[nodiscard]] std::int32_t discrete_level(double value, double least, double factor);

/// @throws InputError  factor <= 0, or max_span < 0
/// @throws TopologyError  a pair was not measured
/// Source: CMPI, section 4.2, Algorithm 1.
[[nodiscard]] Hierarchy build_hierarchy(const MeasuredNetwork& network,
                                        const HierarchyOptions& options);

/// The lowest level, from 1, on which both hosts are in one group; 0 of a host to itself.
/// Source: CMPI, section 4.2, distance.
[[nodiscard]] std::int32_t distance(const Hierarchy& hierarchy, std::int32_t host,
                                    std::int32_t peer);

}  // namespace fairlead::collectives
