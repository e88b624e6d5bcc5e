// SPDX-License-Identifier: Apache-2.0
// Placements on the cores of a cluster by Scotch, as SPREAD's baseline DRB makes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// A tree whose leaves are cores: the number of children on each level, from the root on, and the
/// distance of two leaves that meet at that level.
struct CoreTree {
  std::vector<std::int32_t> num_children;  ///< 16, 4, 4: nodes, their sockets, their cores
  std::vector<std::int32_t> distances;     ///< same length, descending, each >= 1
};

/// A core for each of T ranks by recursive bipartitioning of traffic and tree.
/// Thread-safe, one caller at a time.
/// @param traffic  (T, T); both directions of a pair are added up
/// @param free_cores  leaves that may be used, ascending; at least T
/// @return leaf of each rank, all distinct
/// @throws Error  Scotch failed; the message is Scotch's own
[[nodiscard]] std::vector<std::int64_t> scotch_tree_placement(
    const RankMatrix& traffic, const CoreTree& tree, std::span<const std::int64_t> free_cores,
    std::uint32_t seed);

}  // namespace fairlead
