// SPDX-License-Identifier: Apache-2.0
// The smallest sum of traffic times cost: several starts side by side, the best is the answer.
#include <utility>
#include <vector>

#include "fairlead/optimize.hpp"
#include "mapping/optimize/crew.hpp"
#include "mapping/optimize/host_costs.hpp"
#include "mapping/optimize/sum_state.hpp"
#include "mapping/optimize/tree_levels.hpp"
#include "mapping/optimize/tree_state.hpp"
#include "mapping/optimize/walks.hpp"

namespace fairlead {

using namespace optimizing;

namespace {

// Proposals per second that common cores reach, to plan a run by time. Planned for a faster
// machine, a walk cools early; for a slower one, it ends before its time.
constexpr double kTreePerS = 4e6;

/// By the number of entries in the table of tasks and hosts: the caches decide.
double proposals_per_s(std::size_t num_entries) {
  if (num_entries <= std::size_t{1} << 14) return 28e6;
  if (num_entries <= std::size_t{1} << 16) return 18e6;
  if (num_entries <= std::size_t{1} << 18) return 11e6;
  return 5.5e6;
}

}  // namespace

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostMatrix& cost,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const Plan plan(options, slots, traffic.num_ranks(),
                  proposals_per_s(traffic.num_ranks() * cost.num_hosts));
  const TaskGraph graph = TaskGraph::scaled(traffic);
  const HostCosts costs(cost);
  const auto make_state = [&costs](const Hierarchy::Level& level, Seating seating) {
    return SumState(level.graph, costs, std::move(seating));
  };
  const auto walk = [&](int start, Watch& watch) {
    if (plan.is_free()) {
      return walk_levels(plan, graph, start, 1.0, {}, watch, make_state);
    }
    const double hot = temperature_unit(graph) * kHotOfTasks[place_in_round(start)];
    return walk_from(plan, start,
                     SumState(graph, costs, Seating(plan.slots, plan.given_start(start))), hot,
                     hot * kColdRatio, 1.0, watch);
  };
  return best_of(
      plan, run_starts(options, plan.num_starts, plan.proposals_per_start, walk),
      [&](const Placement& placement) { return weighted_sum(traffic, cost, placement); });
}

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostTree& tree,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const TreeLevels levels(tree);
  const TreeCosts& costs = levels.costs.front();
  OptimizeOptions with_start = options;
  std::vector<Placement> starts(options.starts.begin(), options.starts.end());
  const SlotsOfHost slots_of_host = narrow(slots);
  if (starts.empty()) {
    starts.push_back(widen(filled(slots_of_host, static_cast<std::int32_t>(traffic.num_ranks()),
                                  costs.in_tree_order())));
    with_start.starts = starts;
  }
  const Plan plan(with_start, slots, traffic.num_ranks(), kTreePerS);
  const TaskGraph graph = TaskGraph::scaled(traffic);
  const auto make_state = [&levels](const Hierarchy::Level& level, Seating seating) {
    return TreeState(level.graph, levels.costs[level.num_merges], std::move(seating));
  };
  const auto walk = [&](int start, Watch& watch) {
    if (plan.is_free()) {
      return walk_levels(plan, graph, start, 1.0, levels.groupings, watch, make_state);
    }
    // A large job's own order is a good one; a cool walk keeps it.
    const double hot = temperature_unit(graph) * kHotOfTasks[kStartInOrder];
    return walk_from(plan, start,
                     TreeState(graph, costs, Seating(plan.slots, plan.given_start(start))), hot,
                     hot * kColdRatio, 1.0, watch);
  };
  return best_of(plan, run_starts(options, plan.num_starts, plan.proposals_per_start, walk),
                 [&](const Placement& placement) {
                   double sum = 0.0;
                   traffic.for_each([&](std::size_t src, std::size_t dst, double value) {
                     sum += value * costs(static_cast<std::int32_t>(placement[src]),
                                          static_cast<std::int32_t>(placement[dst]));
                   });
                   return sum;
                 });
}

}  // namespace fairlead
