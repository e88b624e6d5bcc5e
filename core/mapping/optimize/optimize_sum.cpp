// SPDX-License-Identifier: Apache-2.0
// The smallest sum of traffic times cost: several starts side by side, the best is the answer.
#include <utility>
#include <vector>

#include "fairlead/optimize.hpp"
#include "mapping/optimize/crew.hpp"
#include "mapping/optimize/direct_state.hpp"
#include "mapping/optimize/host_costs.hpp"
#include "mapping/optimize/matrix_levels.hpp"
#include "mapping/optimize/sum_state.hpp"
#include "mapping/optimize/tree_levels.hpp"
#include "mapping/optimize/walks.hpp"

namespace fairlead {

using namespace optimizing;

namespace {

// Hosts for each partner of a task beyond which a table of tasks and hosts costs more to keep than
// it saves in reading; measured by bench/placement.
constexpr double kHostsPerPartner = 24.0;

// Proposals per second that common cores reach, to plan a run by time. Planned for a faster
// machine, a walk cools early; for a slower one, it ends before its time.
constexpr double kOnTreePerS = 4e6;
constexpr double kWithoutTablePerS = 17e6;

/// By the number of entries in the table of tasks and hosts: the caches decide.
double with_table_per_s(std::size_t num_entries) {
  if (num_entries <= std::size_t{1} << 14) return 36e6;
  if (num_entries <= std::size_t{1} << 16) return 28e6;
  if (num_entries <= std::size_t{1} << 18) return 18e6;
  return 8e6;
}

/// What each start finds, on the hosts and, before, on groups of them.
/// @param costs  of the hosts, of their groups, ...: one more than there are groupings
template <typename State, typename Costs>
std::vector<HostOfTask> walk_all(const Plan& plan, const TaskGraph& graph,
                                 std::span<const Costs> costs,
                                 std::span<const HostGrouping> groupings) {
  const auto make_state = [&costs](const Hierarchy::Level& level, Seating seating) {
    return State(level.graph, costs[level.num_merges], std::move(seating));
  };
  const auto walk = [&](int start, Watch& watch) {
    if (plan.is_free()) {
      return walk_levels(plan, graph, start, 1.0, groupings, watch, make_state);
    }
    // The first is a cool one, which keeps what is good in the given placement.
    const double hot = temperature_unit(graph) * hot_of_tasks(start + 1, plan.proposals_per_task());
    return walk_from(plan, start,
                     State(graph, costs.front(), Seating(plan.slots, plan.given_start(start))), hot,
                     hot * kColdRatio, 1.0, watch);
  };
  return run_starts(plan.options, plan.num_starts, plan.proposals_per_start, walk);
}

}  // namespace

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostMatrix& cost,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const TaskGraph graph = TaskGraph::scaled(traffic);
  const MatrixLevels levels(cost);
  const HostCosts& costs = levels.costs.front();
  const bool has_table = costs.num_hosts() <= kHostsPerPartner * std::max(1.0, graph.mean_degree());
  const Plan plan(
      options, slots, traffic.num_ranks(),
      has_table ? with_table_per_s(traffic.num_ranks() * cost.num_hosts) : kWithoutTablePerS);
  const std::span<const HostCosts> of_hosts(levels.costs);
  return best_of(
      plan,
      has_table ? walk_all<SumState>(plan, graph, of_hosts, levels.groupings)
                : walk_all<DirectState<HostCosts>>(plan, graph, of_hosts, levels.groupings),
      [&](const Placement& placement) { return weighted_sum(traffic, cost, placement); });
}

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostTree& tree,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const TreeLevels levels(tree);
  const TreeCosts& costs = levels.costs.front();
  OptimizeOptions with_start = options;
  std::vector<Placement> starts(options.starts.begin(), options.starts.end());
  if (starts.empty()) {
    starts.push_back(widen(filled(narrow(slots), static_cast<std::int32_t>(traffic.num_ranks()),
                                  costs.in_tree_order())));
    with_start.starts = starts;
  }
  const Plan plan(with_start, slots, traffic.num_ranks(), kOnTreePerS);
  const TaskGraph graph = TaskGraph::scaled(traffic);
  return best_of(plan,
                 walk_all<DirectState<TreeCosts>>(
                     plan, graph, std::span(std::as_const(levels.costs)), levels.groupings),
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
