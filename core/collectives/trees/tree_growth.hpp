// SPDX-License-Identifier: Apache-2.0
// Several spanning trees at once, within what NICs, pairs and groups carry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/trees/tree_links.hpp"

namespace fairlead::collectives {

struct GrowthOptions {
  std::int32_t num_trees = 1;
  double message_Bps = 0.0;     ///< rate of the whole message; each tree carries an equal part
  double segment_bytes = 0.0;   ///< what is passed on at once
  double headroom_ratio = 1.3;  ///< a pair should carry this many times the rate of a tree
  /// How much an edge's latency counts against its share of the NIC: 0 not at all, 1 as its rate
  /// is the inverse of its latency.
  double latency_sharing = 0.0;
};

/// Grows spanning trees from `root_of_tree`, breadth first by the time at which a segment arrives:
/// each host gets children in one tree only where its NIC allows few, each island is entered once
/// in a tree, and no NIC, pair or group carries more than it can as long as there is a way to do
/// so.
/// @param island_of_host  islands_of(), length H
[[nodiscard]] std::vector<ParentOfHost> grow_trees(const TreeLinks& links,
                                                   std::span<const std::int32_t> island_of_host,
                                                   std::span<const std::int32_t> root_of_tree,
                                                   const GrowthOptions& options);

}  // namespace fairlead::collectives
