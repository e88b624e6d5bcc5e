// SPDX-License-Identifier: Apache-2.0
// CMPI's hierarchy as a tree of hosts, whose subtrees are split and combined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/collectives/hierarchy.hpp"

namespace fairlead::collectives {

/// A group of hosts and the groups in it; a single host has none.
struct Subtree {
  std::vector<std::int32_t> hosts;  ///< ascending
  std::vector<Subtree> children;
};

/// The hierarchy as it is seen from the root: on each level the root's group is one child and
/// those at that distance are the others, in ascending order of their first hosts. Levels on which
/// the root's group does not grow are left out.
[[nodiscard]] Subtree tree_seen_from(const Hierarchy& hierarchy, std::int32_t num_hosts,
                                     std::int32_t root);

/// Makes as many subtrees as wanted: the largest is split in two, the two smallest are combined.
/// Where all are single hosts there may be fewer. The paper leaves open which of equally large
/// ones is taken: here the last one is split, as in its figure 4b, and the first ones are combined.
/// Source: CMPI, section 4.3, operations 1 and 2.
void adjust(std::vector<Subtree>& subtrees, std::size_t num_wanted);

}  // namespace fairlead::collectives
