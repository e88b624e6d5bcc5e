// SPDX-License-Identifier: Apache-2.0
// The walk of one start, for any objective: level by level, or from a given placement.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mapping/anneal/annealing.hpp"
#include "mapping/anneal/assignment.hpp"
#include "mapping/anneal/budget.hpp"

namespace fairlead::optimizing {

// The part of a start's proposals that goes to the groups of tasks, before the tasks themselves.
inline constexpr double kCoarseShare = 0.2;
// Temperatures in the unit of the state.
inline constexpr double kHotOfGroups = 1.0;
inline constexpr double kHotBetween = 0.3;
inline constexpr double kCool = 0.05;
inline constexpr double kColdRatio = 0.2;
inline constexpr double kColdest = 0.05;

/// Every second start groups consecutive tasks: programs often number neighbours alike.
[[nodiscard]] inline bool keeps_order(int start) {
  return start % 2 == 1;
}

/// How hot to anneal after placing the groups: if they keep nearly all traffic inside, as those of
/// a ring do, they are right and must not be broken up.
/// @param between_share  part of the traffic that is between groups as large as a host
[[nodiscard]] inline double melting_ratio(double between_share) {
  constexpr double kOfStencil = 0.375;  // groups of 2 x 4 tasks of a grid
  constexpr double kLeast = 0.01;       // nothing at all could not cool
  const double ratio = std::min(1.0, between_share / kOfStencil);
  return std::max(kLeast, ratio * ratio);
}

/// The first temperature of the tasks. The first start in order stays cool and keeps the groups'
/// placement. The others break it up, the very first one only as far as the groups are not right. A
/// longer walk may begin hotter. Measured by bench/placement.
/// @param melting  of the groups, see above; 1 where there are none
[[nodiscard]] inline double hot_of_tasks(int start, double proposals_per_task, double melting) {
  constexpr double kOfLaterStarts = 0.65;
  constexpr double kShortWalk = 8000.0, kOfShortWalk = 0.4, kCoolest = 0.2, kHottest = 0.8;
  if (start == 1) return kCool;
  const double hot =
      std::clamp(kOfShortWalk * std::pow(proposals_per_task / kShortWalk, 0.2), kCoolest, kHottest);
  return hot * (start == 0 ? melting : kOfLaterStarts);
}

/// Order of magnitude of the change by one task's step: changes of many partners add up like the
/// steps of a random walk. 1 for the few partners of a stencil.
[[nodiscard]] inline double temperature_unit(const TaskGraph& graph) {
  constexpr double kFewPartners = 6.0;
  return graph.mean_both() * std::sqrt(std::max(1.0, graph.mean_degree() / kFewPartners));
}

/// Groups first, then the tasks.
/// @param part  of the start's proposals
/// @param end_s  of the part, on the timer of the run
/// @param groupings  of hosts, for more levels above
/// @param make_state  builds a state of a level from a placement
template <typename MakeState>
HostOfTask walk_levels(const Budget& budget, const TaskGraph& graph, int start, double part,
                       double end_s, std::span<const HostGrouping> groupings, StopCriterion& stop,
                       MakeState make_state) {
  if (stop.is_late()) return {};
  Random random(budget.options.seed, static_cast<std::uint64_t>(start));
  const Coarsening coarsening =
      coarsen(graph, budget.slots, groupings, Random(random.next()), keeps_order(start));
  const double hot = hot_of_tasks(start, budget.proposals_per_task() * part,
                                  melting_ratio(coarsening.between_share()));
  HostOfTask host_of_task;
  double share_left = 1.0;
  for (std::size_t level = coarsening.levels.size(); level-- > 0;) {
    const Coarsening::Level& here = coarsening.levels[level];
    const bool is_last = level == 0, is_first = level + 1 == coarsening.levels.size();
    host_of_task = is_first ? filled(here.slots, here.graph.num_tasks(),
                                     in_order(static_cast<std::int32_t>(here.slots.size())))
                            : refined(host_of_task, here);
    if (stop.elapsed_s() >= end_s) continue;
    auto state = make_state(here, Occupancy(here.slots, host_of_task));
    MoveConstraints constraints(here.graph.num_tasks());
    const double share = is_last ? (is_first ? 1.0 : 1.0 - kCoarseShare)
                                 : kCoarseShare / static_cast<double>(coarsening.levels.size() - 1);
    const std::optional<Heat> own_heat =
        is_last && budget.is_assignment() ? heat_of_assignment(start) : std::nullopt;
    const double unit =
        own_heat ? spread_of_swaps(state, Random(random.next())) : temperature_unit(here.graph);
    const double hottest = is_last ? hot : is_first ? kHotOfGroups : std::min(hot, kHotBetween);
    const Heat heat =
        own_heat.value_or(Heat{.hot = hottest, .cold = std::min(hottest * kColdRatio, kColdest)});
    if (unit > 0.0) {
      const double now_s = stop.elapsed_s();
      const double level_end_s = is_last ? end_s : now_s + (end_s - now_s) * share / share_left;
      Annealing(state, constraints, Random(random.next()))
          .run(budget.cooling(unit * heat.hot, unit * heat.cold, share * part, level_end_s), stop);
    }
    share_left -= share;
    const auto hosts = state.occupancy().host_of_task();
    host_of_task.assign(hosts.begin(), hosts.end());
  }
  return host_of_task;
}

/// From a given placement, as far as tasks may leave it.
template <typename State>
HostOfTask walk_from(const Budget& budget, int start, State state, const Cooling& cooling,
                     StopCriterion& stop) {
  MoveConstraints constraints = budget.constraints();
  Annealing(state, constraints, Random(budget.options.seed, static_cast<std::uint64_t>(start)))
      .run(cooling, stop);
  if constexpr (requires { state.best_host_of_task(); }) return state.best_host_of_task();
  const auto hosts = state.occupancy().host_of_task();
  return {hosts.begin(), hosts.end()};
}

/// The best of the given and the found placements, by the exact objective.
template <typename Value>
Placement best_of(const Budget& budget, std::vector<HostOfTask> found, Value value) {
  std::vector<HostOfTask> candidates = budget.starts;
  std::ranges::move(found, std::back_inserter(candidates));
  std::size_t best = 0;
  double best_value = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    if (candidates[index].empty() && budget.num_tasks > 0) continue;  // not begun in time
    const double its_value = value(widen(candidates[index]));
    if (its_value < best_value) {
      best = index;
      best_value = its_value;
    }
  }
  return widen(candidates[best]);
}

}  // namespace fairlead::optimizing
