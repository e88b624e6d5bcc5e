// SPDX-License-Identifier: Apache-2.0
// Segments along one tree.
#include "collectives/methods/forest_search.hpp"

namespace fairlead::collectives {
namespace {

/// It is seldom the fastest method, so its search is the smaller one.
constexpr double kMaxMessagesOfOneTree = 60'000.0;

}  // namespace

Schedule plan_pipeline(const Problem& problem) {
  ForestSearch search(problem, kMaxMessagesOfOneTree);
  return search.searched({{.segments_per_tree = search.likely_segments(), .width = 2.0}}, false);
}

}  // namespace fairlead::collectives
