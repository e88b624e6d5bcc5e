// SPDX-License-Identifier: Apache-2.0
// A tree of hosts on coarser and coarser levels: its hosts, then its racks as hosts, then its pods.
#pragma once

#include <vector>

#include "fairlead/mapping/optimize.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/cost/tree_costs.hpp"

namespace fairlead::optimizing {

/// The costs between groups of a tree are those between any two of their hosts.
struct TreeLevels {
  std::vector<TreeCosts> costs;         ///< of the hosts, of the lowest groups, ...: length L + 1
  std::vector<HostGrouping> groupings;  ///< length L

  explicit TreeLevels(const HostTree& tree);
};

}  // namespace fairlead::optimizing
