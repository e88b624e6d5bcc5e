// SPDX-License-Identifier: Apache-2.0
// Segments along one tree.
#include "collectives/methods/forest_search.hpp"

namespace fairlead::collectives {
namespace {

/// It seldom wins, so its search is the smaller one.
constexpr double kMaxMessagesOfOneTree = 60'000.0;

Schedule pipeline(const Problem& problem, std::uint64_t segment_bytes) {
  ForestSearch search(problem, kMaxMessagesOfOneTree, segment_bytes);
  return search.searched({{.segments_per_tree = search.likely_segments(), .width = 2.0}}, false);
}

}  // namespace

Schedule plan_pipeline(const Problem& problem) {
  return pipeline(problem, 0);
}

Schedule plan_pipeline_8k(const Problem& problem) {
  return pipeline(problem, kShortSegmentBytes);
}

Schedule plan_pipeline_64k(const Problem& problem) {
  return pipeline(problem, kLongSegmentBytes);
}

}  // namespace fairlead::collectives
