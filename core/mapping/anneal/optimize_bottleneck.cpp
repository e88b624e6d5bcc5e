// SPDX-License-Identifier: Apache-2.0
// The smallest bottleneck_s, bottleneck_and_mean_s or slowest_rank_s: several starts side by side,
// the best is the answer.
#include <utility>
#include <vector>

#include "fairlead/mapping/optimize.hpp"
#include "mapping/anneal/bottleneck_state.hpp"
#include "mapping/anneal/starts.hpp"
#include "mapping/anneal/sum_state.hpp"
#include "mapping/anneal/walks.hpp"
#include "mapping/cost/host_costs.hpp"

namespace fairlead {

using namespace optimizing;

namespace {

// Temperatures in units of the energy of a walk's first placement.
constexpr double kHotOfBottleneck = 0.03;
constexpr double kColdOfBottleneck = 0.01;
// Exchanges that common cores evaluate in a second: each proposal evaluates all of two tasks. Half
// of the walks begin with the sum, which is faster.
constexpr double kExchangesPerS = 9e6;

std::vector<double> seconds_per_byte(const HostMatrix& bandwidth_Bps) {
  std::vector<double> cost;
  for (const double rate_Bps : bandwidth_Bps.values) cost.push_back(1.0 / rate_Bps);
  return cost;
}

}  // namespace

std::vector<std::int64_t> optimize_bottleneck(const RankMatrix& bytes, const RankMatrix& messages,
                                              const MeasuredNetwork& network,
                                              std::span<const std::int64_t> slots,
                                              BottleneckObjective objective,
                                              const OptimizeOptions& options,
                                              const ComputeDemand& demand) {
  const Timer timer;
  const TaskGraph byte_graph(bytes, 1.0), message_graph(messages, 1.0);
  const double exchanges_per_task =
      static_cast<double>(byte_graph.num_exchanges() + message_graph.num_exchanges()) /
      static_cast<double>(std::max<std::size_t>(1, bytes.num_ranks()));
  const Budget budget(options, slots, bytes.num_ranks(),
                      kExchangesPerS / std::max(1.0, exchanges_per_task), false, timer, 0.0);
  const TaskGraph scaled = TaskGraph::scaled(bytes);
  const std::vector<double> cost = seconds_per_byte(network.bandwidth_Bps);
  const HostCosts costs({.num_hosts = network.bandwidth_Bps.num_hosts, .values = cost});
  const Resources resources(network);
  const auto walk = [&](int start, StopCriterion& stop) {
    HostOfTask begin = budget.given_start(start);
    // A small sum is part of one objective, is often near a small maximum, and is found much
    // faster.
    double part = 1.0;
    const double end_s = stop.end_of_part_s(budget.part_of_start);
    if (budget.is_free() && start % 2 == 0) {
      part = 0.5;
      const double sum_end_s = stop.end_of_part_s(budget.part_of_start * part);
      begin = walk_levels(budget, scaled, start, part, sum_end_s, {}, stop,
                          [&costs](const Coarsening::Level& level, Occupancy occupancy) {
                            return SumState(level.graph, costs, std::move(occupancy));
                          });
    }
    if (begin.empty() || stop.is_late()) return begin;
    BottleneckState state(byte_graph, message_graph, resources, costs, objective,
                          Occupancy(budget.slots, begin), demand);
    const double hot = kHotOfBottleneck * state.energy_s();
    if (!(hot > 0.0)) return begin;
    return walk_from(budget, start, std::move(state),
                     budget.cooling(hot, hot * kColdOfBottleneck, part, end_s), stop);
  };
  return best_of(
      budget,
      run_starts(options, budget.num_starts, budget.proposals_per_start * budget.num_starts, walk,
                 budget.timer, budget.end_s),
      [&](const Placement& placement) {
        if (demand.is_known()) return slowest_rank_s(bytes, messages, network, demand, placement);
        const PlacementCost placement_cost = evaluate(bytes, messages, network, placement);
        return objective == BottleneckObjective::bottleneck ? placement_cost.bottleneck_s
                                                            : placement_cost.bottleneck_and_mean_s;
      });
}

}  // namespace fairlead
