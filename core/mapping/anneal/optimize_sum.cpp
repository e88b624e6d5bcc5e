// SPDX-License-Identifier: Apache-2.0
// The smallest sum of traffic times cost: several starts side by side, the best is the answer.
#include <utility>
#include <vector>

#include "fairlead/mapping/optimize.hpp"
#include "mapping/anneal/direct_state.hpp"
#include "mapping/anneal/matrix_levels.hpp"
#include "mapping/anneal/multisection.hpp"
#include "mapping/anneal/starts.hpp"
#include "mapping/anneal/sum_state.hpp"
#include "mapping/anneal/tree_levels.hpp"
#include "mapping/anneal/walks.hpp"
#include "mapping/cost/host_costs.hpp"

namespace fairlead {

using namespace optimizing;

namespace {

// With more hosts than this for each partner of a task, updating a table of tasks and hosts costs
// more than reading it saves; measured by bench/placement.
constexpr double kHostsPerPartner = 40.0;

// Proposals per second that common cores reach, to plan a run by time. Planned for a faster
// machine, a walk cools early; for a slower one, it ends before its time.
constexpr double kOnTreePerS = 4e6;
constexpr double kWithoutTablePerS = 17e6;

/// By the number of entries in the table of tasks and hosts, since it depends on the caches.
double with_table_per_s(std::size_t num_entries) {
  if (num_entries <= std::size_t{1} << 14) return 36e6;
  if (num_entries <= std::size_t{1} << 16) return 28e6;
  if (num_entries <= std::size_t{1} << 18) return 18e6;
  return 8e6;
}

// Random numbers of the multisection; those of the starts are numbered from 0.
constexpr std::uint64_t kStreamOfCuts = 1U << 20U;
// A multisection that takes longer than this many times its planned time is aborted.
constexpr double kLatestCut = 2.0;

/// Time of a multisection on common cores, measured by bench/placement/large.py.
double cut_s(const TaskGraph& graph) {
  return 5e-6 * static_cast<double>(graph.num_exchanges() + graph.num_tasks());
}

/// The result of each start, first on groups of hosts and then on the hosts; and that of improving
/// the best given placement.
/// @param costs  of the hosts, of their groups, ...: one more than there are groupings
/// @param best_given  empty if there is nothing to refine
template <typename State, typename Costs, typename Value>
std::vector<HostOfTask> walk_all(const Budget& budget, const TaskGraph& graph,
                                 std::span<const Costs> costs,
                                 std::span<const HostGrouping> groupings,
                                 const HostOfTask& best_given, Value value) {
  const auto make_state = [&costs](const Coarsening::Level& level, Occupancy occupancy) {
    return State(level.graph, costs[level.num_merges], std::move(occupancy));
  };
  const auto from = [&](const HostOfTask& given) {
    return State(graph, costs.front(), Occupancy(budget.slots, given));
  };
  const double unit = temperature_unit(graph);
  const auto walk = [&](int start, StopCriterion& stop) {
    const double end_s = stop.end_of_part_s(budget.part_of_start);
    if (budget.is_free()) {
      return walk_levels(budget, graph, start, 1.0, end_s, groupings, stop, make_state);
    }
    // The first is a cool one, which keeps what is good in the given placement.
    const double hot = unit * hot_of_tasks(start + 1, budget.proposals_per_task(), 1.0);
    return walk_from(budget, start, from(budget.given_start(start)),
                     budget.cooling(hot, hot * kColdRatio, 1.0, end_s), stop);
  };
  const auto refine = [&](StopCriterion& stop) {
    if (!(unit > 0.0)) return best_given;
    HostOfTask begin = best_given;
    if (budget.num_cuts > 0) {
      // On a slower machine than planned for, it may take some of the time of the others.
      HostOfTask sections =
          multisection(graph, budget.slots, groupings, budget.num_cuts,
                       Random(budget.options.seed, kStreamOfCuts), stop,
                       stop.end_of_part_s(std::min(1.0, kLatestCut * budget.part_to_cut)));
      if (!sections.empty() && value(widen(sections)) < value(widen(begin))) {
        begin = std::move(sections);
      }
    }
    const double refined_s = stop.end_of_part_s(budget.part_to_refine);
    return walk_from(budget, budget.num_starts, from(begin),
                     {.hot = unit * kCool,
                      .cold = unit * kCool * kColdRatio,
                      .num_steps = budget.proposals_to_refine,
                      .end_s = refined_s},
                     stop);
  };
  // The safest part first: a short run may not reach the rest.
  const int num_before = best_given.empty() ? 0 : 1;
  return run_starts(
      budget.options, num_before + budget.num_starts,
      budget.proposals_to_refine + budget.num_starts * budget.proposals_per_start,
      [&](int number, StopCriterion& stop) {
        return number < num_before ? refine(stop) : walk(number - num_before, stop);
      },
      budget.timer, budget.end_s);
}

}  // namespace

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostMatrix& cost,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const Timer timer;
  const TaskGraph graph = TaskGraph::scaled(traffic);
  const MatrixLevels levels(cost);
  const HostCosts& costs = levels.costs.front();
  const bool has_table = costs.num_hosts() <= kHostsPerPartner * std::max(1.0, graph.mean_degree());
  const Budget budget(
      options, slots, traffic.num_ranks(),
      has_table ? with_table_per_s(traffic.num_ranks() * cost.num_hosts) : kWithoutTablePerS, true,
      timer, 0.0);
  const auto value = [&](const Placement& placement) {
    return weighted_sum(traffic, cost, placement);
  };
  const HostOfTask best_given =
      budget.proposals_to_refine > 0 ? narrow(best_of(budget, {}, value)) : HostOfTask{};
  const std::span<const HostCosts> of_hosts(levels.costs);
  return best_of(
      budget,
      has_table ? walk_all<SumState>(budget, graph, of_hosts, levels.groupings, best_given, value)
                : walk_all<DirectState<HostCosts>>(budget, graph, of_hosts, levels.groupings,
                                                   best_given, value),
      value);
}

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostTree& tree,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const Timer timer;
  const TreeLevels levels(tree);
  const TreeCosts& costs = levels.costs.front();
  OptimizeOptions with_start = options;
  std::vector<Placement> starts(options.starts.begin(), options.starts.end());
  if (starts.empty()) {
    starts.push_back(widen(filled(narrow(slots), static_cast<std::int32_t>(traffic.num_ranks()),
                                  costs.in_tree_order())));
    with_start.starts = starts;
  }
  const TaskGraph graph = TaskGraph::scaled(traffic);
  const Budget budget(with_start, slots, traffic.num_ranks(), kOnTreePerS, false, timer,
                      cut_s(graph));
  const auto value = [&](const Placement& placement) {
    double sum = 0.0;
    traffic.for_each([&](std::size_t src, std::size_t dst, double amount) {
      sum += amount * costs(static_cast<std::int32_t>(placement[src]),
                            static_cast<std::int32_t>(placement[dst]));
    });
    return sum;
  };
  const HostOfTask best_given =
      budget.proposals_to_refine > 0 ? narrow(best_of(budget, {}, value)) : HostOfTask{};
  return best_of(
      budget,
      walk_all<DirectState<TreeCosts>>(budget, graph, std::span(std::as_const(levels.costs)),
                                       levels.groupings, best_given, value),
      value);
}

}  // namespace fairlead
