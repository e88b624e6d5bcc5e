// SPDX-License-Identifier: Apache-2.0
// Seeds from random permutations, each grown to its group and that of the reverse direction.
#include "network/contention/group_search.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "network/contention/group_check.hpp"

namespace fairlead {
namespace {

constexpr int kFewestHosts = 4;  // two flows that share no interface
constexpr int kNumPermutations = 3;
// With up to this many hosts, three permutations may have no two flows that share an uplink.
constexpr int kFewHosts = 7;
// The search ends after this many comparisons without success, per doubling of the hosts. With two
// racks of four, 17 % of all comparisons meet the uplink: 72 miss it once in 10^6 times.
constexpr int kMaxFailedFirst = 24;
constexpr int kMaxFailedLater = 8;
constexpr int kMaxDepth = 2;

std::vector<Flow> all_flows(int num_hosts) {
  std::vector<Flow> flows;
  for (int src = 0; src < num_hosts; ++src) {
    for (int dst = 0; dst < num_hosts; ++dst) {
      if (src != dst) flows.push_back({src, dst});
    }
  }
  return flows;
}

/// Flows in which every host sends and receives equally often.
std::vector<Flow> draw_flows(int num_hosts, RandomOrder& random) {
  if (num_hosts <= kFewHosts) return all_flows(num_hosts);
  std::vector<Flow> flows;
  std::vector<int> order(static_cast<std::size_t>(num_hosts));
  std::iota(order.begin(), order.end(), 0);
  for (int permutation = 0; permutation < kNumPermutations; ++permutation) {
    random.shuffle(order);
    for (std::size_t place = 0; place < order.size(); ++place) {
      flows.push_back({order[place], order[(place + 1) % order.size()]});
    }
  }
  std::ranges::sort(flows);
  flows.erase(std::unique(flows.begin(), flows.end()), flows.end());
  return flows;
}

std::vector<FlowPair> draw_candidates(int num_hosts, RandomOrder& random) {
  const std::vector<Flow> flows = draw_flows(num_hosts, random);
  std::vector<FlowPair> candidates;
  for (std::size_t first = 0; first < flows.size(); ++first) {
    for (std::size_t second = first + 1; second < flows.size(); ++second) {
      const FlowPair pair{.first = flows[first], .second = flows[second]};
      if (pair.is_disjoint()) candidates.push_back(pair);
    }
  }
  random.shuffle(candidates);
  return candidates;
}

FlowPair reversed(const FlowPair& flows) {
  return {.first = {flows.first.dst, flows.first.src},
          .second = {flows.second.dst, flows.second.src}};
}

}  // namespace

GroupSearch::GroupSearch(int num_hosts, FlowSteps& steps, Sharing& sharing, RandomOrder& random)
    : num_hosts_(num_hosts),
      steps_(steps),
      sharing_(sharing),
      random_(random),
      classes_(num_hosts) {}

void GroupSearch::run(std::vector<BottleneckGroup>& groups) {
  if (num_hosts_ < kFewestHosts) return;
  int num_failed = 0;
  // A comparison that is not plausible now never becomes plausible: classes only split, and groups
  // are only added.
  for (const FlowPair& candidate : draw_candidates(num_hosts_, random_)) {
    if (num_failed >= max_failed()) return;
    if (!is_plausible(candidate)) continue;
    num_failed = explore(candidate, false, 0, groups) ? 0 : num_failed + 1;
  }
}

bool GroupSearch::explore(const FlowPair& seed, bool is_expected, int depth,
                          std::vector<BottleneckGroup>& groups) {
  if (is_explained(seed)) return false;
  const double capacity_Bps = sharing_.shared_capacity_Bps(seed);
  if (!(capacity_Bps > 0)) return false;
  const Sides sides =
      GroupGrowth(sharing_, classes_, random_).grow(seed, capacity_Bps, is_expected);
  const std::vector<int> on_both = sides.on_both();
  if (!on_both.empty()) return explore_apart(seed, on_both.front(), depth, groups);
  const auto group = check_group(sides, capacity_Bps, sharing_, steps_, random_);
  if (!group) return false;
  groups.push_back(*group);
  known_.push_back(sides);
  classes_.refine(sides);
  explore(reversed(seed), true, 0, groups);
  return true;
}

/// The flows share two bottlenecks, leaving one rack and entering another. A host in neither rack
/// separates them: as another destination of the first, and another source of the second.
bool GroupSearch::explore_apart(const FlowPair& seed, int between, int depth,
                                std::vector<BottleneckGroup>& groups) {
  if (depth == kMaxDepth) return false;
  const FlowPair leaving{.first = seed.first, .second = {seed.second.src, between}};
  const FlowPair entering{.first = seed.first, .second = {between, seed.second.dst}};
  const bool is_found = explore(leaving, false, depth + 1, groups);
  return explore(entering, false, depth + 1, groups) || is_found;
}

bool GroupSearch::is_plausible(const FlowPair& flows) const {
  const bool is_like = classes_[flows.first.src] == classes_[flows.second.src] ||
                       classes_[flows.first.dst] == classes_[flows.second.dst];
  return is_like && !is_explained(flows);
}

bool GroupSearch::is_explained(const FlowPair& flows) const {
  return std::ranges::any_of(known_, [&flows](const Sides& sides) {
    return sides.has(flows.first) && sides.has(flows.second);
  });
}

int GroupSearch::max_failed() const {
  const auto doublings = static_cast<int>(std::bit_width(static_cast<unsigned>(num_hosts_ - 1)));
  return (known_.empty() ? kMaxFailedFirst : kMaxFailedLater) * doublings;
}

}  // namespace fairlead
