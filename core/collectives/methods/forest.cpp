// SPDX-License-Identifier: Apache-2.0
// Segments along several trees at once.
#include <algorithm>
#include <cstdint>

#include "collectives/methods/forest_search.hpp"

namespace fairlead::collectives {
namespace {

constexpr double kMaxMessages = 185'000.0;
/// Each takes longer among many hosts, and longer still where messages go both ways at once.
constexpr double kMaxMessagesOfManyHosts = 110'000.0;
constexpr double kMaxMessagesOfManyHostsBothWays = 55'000.0;
/// Segments of a tree at first: one simulation of more takes most of the time of planning.
constexpr std::int32_t kMaxFirstSegmentsBothWays = 48;

}  // namespace

Schedule plan_forest(const Problem& problem) {
  const bool is_both_ways = problem.request.operation == Operation::allreduce;
  const bool has_many_hosts = problem.links.num_hosts() >= kManyHosts;
  ForestSearch search(problem, !has_many_hosts ? kMaxMessages
                               : is_both_ways  ? kMaxMessagesOfManyHostsBothWays
                                               : kMaxMessagesOfManyHosts);
  std::int32_t segments = search.likely_segments();
  if (segments <= 2) {
    return search.searched({{.num_trees = 1, .segments_per_tree = segments, .width = 4.0}}, true);
  }
  if (is_both_ways && has_many_hosts) segments = std::min(segments, kMaxFirstSegmentsBothWays);
  const Shape one_each{.num_trees = 3, .segments_per_tree = segments};
  if (is_both_ways) return search.searched({one_each}, true);
  Shape ahead = one_each;
  ahead.window = 8;
  ahead.spare_sends = 1;
  return search.searched({one_each, ahead}, true);
}

}  // namespace fairlead::collectives
