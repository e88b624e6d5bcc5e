// SPDX-License-Identifier: Apache-2.0
// A matrix of hosts on coarser and coarser levels: pairs of near hosts as one, pairs of these, ...
#pragma once

#include <vector>

#include "fairlead/matrices.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/cost/host_costs.hpp"

namespace fairlead::optimizing {

/// The cost between groups of hosts is the mean over their hosts.
struct MatrixLevels {
  std::vector<HostCosts> costs;         ///< of the hosts, of their groups, ...
  std::vector<HostGrouping> groupings;  ///< one fewer

  /// @param cost  (H, H), finite, >= 0
  explicit MatrixLevels(const HostMatrix& cost);
};

}  // namespace fairlead::optimizing
