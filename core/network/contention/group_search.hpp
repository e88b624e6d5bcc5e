// SPDX-License-Identifier: Apache-2.0
// The search for groups of pairs behind one bottleneck.
#pragma once

#include <vector>

#include "network/contention/group_growth.hpp"

namespace fairlead {

/// Compares flows, two at a time, until no two are left that could share a bottleneck, or until
/// many comparisons found none; two that share one are grown to its group.
class GroupSearch {
 public:
  GroupSearch(int num_hosts, FlowSteps& steps, Sharing& sharing, RandomOrder& random);

  /// Adds each group to `groups` at once, so that it is kept when the steps end.
  void run(std::vector<BottleneckGroup>& groups);

 private:
  /// Whether new groups were found from two flows that may share one.
  bool explore(const FlowPair& seed, bool is_expected, int depth,
               std::vector<BottleneckGroup>& groups);
  bool explore_apart(const FlowPair& seed, int between, int depth,
                     std::vector<BottleneckGroup>& groups);
  /// Whether two flows may share a bottleneck that was not found yet.
  [[nodiscard]] bool is_plausible(const FlowPair& flows) const;
  [[nodiscard]] bool is_explained(const FlowPair& flows) const;
  [[nodiscard]] int max_failed() const;

  int num_hosts_;
  FlowSteps& steps_;
  Sharing& sharing_;
  RandomOrder& random_;
  HostClasses classes_;
  std::vector<Sides> known_;
};

}  // namespace fairlead
