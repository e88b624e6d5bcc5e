// SPDX-License-Identifier: Apache-2.0
// The main flow of the engine: several starts side by side, the best one is the answer.
#include "fairlead/optimize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "mapping/optimize/annealing.hpp"
#include "mapping/optimize/bottleneck_state.hpp"
#include "mapping/optimize/crew.hpp"
#include "mapping/optimize/freedom.hpp"
#include "mapping/optimize/host_costs.hpp"
#include "mapping/optimize/multilevel.hpp"
#include "mapping/optimize/sum_state.hpp"
#include "mapping/optimize/tree_state.hpp"

namespace fairlead {
namespace optimizing {
namespace {

using Placement = std::vector<std::int64_t>;

// Proposals per task without a limit, the most of them, and the fewest that a start is worth.
// Measured by bench/placement: below, more starts are worse than longer ones.
constexpr std::int64_t kProposalsPerTask = 60'000;
constexpr double kMostSeconds = 2.0;
constexpr std::int64_t kFewestProposals = 2'000'000;
constexpr std::int64_t kFewestPerStart = 60;  // times the square of the number of tasks
constexpr int kMostStarts = 64;
// The part of a start's proposals that goes to the groups of tasks, before the tasks themselves.
constexpr double kCoarseShare = 0.2;
// Temperatures in the unit of the state. The hottest melts a placement down to its racks, a cool
// one keeps what the groups found; which is better depends on the traffic, so starts differ.
constexpr double kHotOfGroups = 1.0;
constexpr double kHotBetween = 0.3;
constexpr std::array<double, 4> kHotOfTasks{0.45, 0.05, 0.45, 0.2};
constexpr double kColdRatio = 0.06;
constexpr double kColdOfGroups = 0.02;
// The same for the bottleneck, in the energy of the placement that a walk begins with.
constexpr double kHotOfBottleneck = 0.03;
constexpr double kColdOfBottleneck = 0.01;
// Proposals per second that common cores reach, to plan a run by time; for the bottleneck, each
// looks at all exchanges of two tasks. Planned for a
// faster machine, a walk cools early; for a slower one, it ends before its time.
constexpr double kTreePerS = 4e6;
constexpr double kBottleneckExchangesPerS = 6e6;
constexpr double kLongestPlan_s = 1e5;

std::vector<std::int32_t> narrow(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}

Placement widen(std::span<const std::int32_t> values) {
  return {values.begin(), values.end()};
}

/// Tasks in their order, hosts filled one after the other.
HostOfTask filled(const SlotsOfHost& slots, std::int32_t num_tasks,
                  std::span<const std::int32_t> hosts) {
  HostOfTask host_of_task;
  for (const std::int32_t host : hosts) {
    for (std::int32_t slot = 0; slot < slots[static_cast<std::size_t>(host)]; ++slot) {
      if (static_cast<std::int32_t>(host_of_task.size()) == num_tasks) return host_of_task;
      host_of_task.push_back(host);
    }
  }
  return host_of_task;
}

std::vector<std::int32_t> in_order(std::int32_t number) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(number));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Puts the fixed tasks on their hosts by swaps with others that are there.
HostOfTask with_fixed(HostOfTask host_of_task, const SlotsOfHost& slots,
                      std::span<const std::int64_t> fixed_host_of_rank) {
  Seating seating(slots, host_of_task);
  for (std::size_t task = 0; task < fixed_host_of_rank.size(); ++task) {
    const auto host = static_cast<std::int32_t>(fixed_host_of_rank[task]);
    if (host < 0 || seating.host_of(static_cast<std::int32_t>(task)) == host) continue;
    const auto sitters = seating.sitters(host);
    const auto gives_way = std::ranges::find_if(sitters, [&](std::int32_t sitter) {
      return !seating.is_task(sitter) ||
             fixed_host_of_rank[static_cast<std::size_t>(sitter)] != host;
    });
    seating.swap(static_cast<std::int32_t>(task), *gives_way);
  }
  const auto hosts = seating.host_of_task();
  return {hosts.begin(), hosts.end()};
}

/// What every start shares.
struct Plan {
  const OptimizeOptions& options;
  SlotsOfHost slots;
  std::int32_t num_tasks;
  std::vector<HostOfTask> starts;  ///< given ones, fixed tasks in their places
  std::int64_t proposals_per_start;
  int num_starts;
  double limit_s;  ///< of one start

  /// @param proposals_per_s  what one core is expected to do, for a run with a time limit only
  Plan(const OptimizeOptions& given, std::span<const std::int64_t> slots_of_host,
       std::size_t num_ranks, double proposals_per_s)
      : options(given),
        slots(narrow(slots_of_host)),
        num_tasks(static_cast<std::int32_t>(num_ranks)) {
    const auto in_time = [proposals_per_s](double time_s) {
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(time_s * proposals_per_s));
    };
    std::int64_t wanted = given.num_proposals;
    if (wanted <= 0 && std::isfinite(given.time_limit_s)) {
      wanted = in_time(std::min(given.time_limit_s, kLongestPlan_s));
    } else if (wanted <= 0) {
      wanted = std::min(std::max(kProposalsPerTask * num_tasks, kFewestProposals),
                        in_time(kMostSeconds));
    }
    const std::int64_t fewest_per_start = kFewestPerStart * num_tasks * num_tasks + 1;
    num_starts =
        static_cast<int>(std::clamp<std::int64_t>(wanted / fewest_per_start, 1, kMostStarts));
    proposals_per_start = wanted / num_starts;
    limit_s = given.time_limit_s * std::clamp(given.num_threads, 1, num_starts) / num_starts;
    for (const Placement& start : given.starts) {
      starts.push_back(with_fixed(narrow(start), slots, given.fixed_host_of_rank));
      if (is_bound()) break;  // only what is near the first one is allowed
    }
    if (starts.empty()) {
      starts.push_back(
          with_fixed(filled(slots, num_tasks, in_order(static_cast<std::int32_t>(slots.size()))),
                     slots, given.fixed_host_of_rank));
    }
  }

  [[nodiscard]] bool is_bound() const { return options.most_moves >= 0; }
  [[nodiscard]] bool is_free() const { return !is_bound() && options.fixed_host_of_rank.empty(); }
  [[nodiscard]] Freedom freedom() const {
    if (is_free()) return Freedom(num_tasks);
    std::vector<char> is_fixed(static_cast<std::size_t>(num_tasks), 0);
    for (std::size_t task = 0; task < options.fixed_host_of_rank.size(); ++task) {
      is_fixed[task] = options.fixed_host_of_rank[task] >= 0 ? 1 : 0;
    }
    const std::int64_t most_away =
        is_bound() ? options.most_moves : std::numeric_limits<std::int64_t>::max();
    return {is_fixed, starts.front(), most_away, starts.front()};
  }
};

/// What one task's step changes, in the order of magnitude: changes of many partners add up like
/// the steps of a random walk. 1 for the few partners of a stencil.
double temperature_unit(const TaskGraph& graph) {
  constexpr double kFewPartners = 6.0;
  const double partners = static_cast<double>(graph.num_exchanges()) /
                          static_cast<double>(std::max(1, graph.num_tasks()));
  return graph.mean_both() * std::sqrt(std::max(1.0, partners / kFewPartners));
}

/// Groups first, then the tasks.
/// @param part  of the start's proposals
/// @param make_state  builds a state of a level from a placement
template <typename MakeState>
HostOfTask walk_levels(const Plan& plan, const TaskGraph& graph, int start, double part,
                       std::span<const std::int32_t> hosts_in_order, Watch& watch,
                       MakeState make_state) {
  Random random(plan.options.seed, static_cast<std::uint64_t>(start));
  const double hot = kHotOfTasks[static_cast<std::size_t>(start) % kHotOfTasks.size()];
  Hierarchy hierarchy = coarsen(graph, plan.slots, Random(random.next()), start % 4 == 1);
  HostOfTask host_of_task;
  for (std::size_t level = hierarchy.levels.size(); level-- > 0;) {
    const Hierarchy::Level& here = hierarchy.levels[level];
    const bool is_last = level == 0, is_first = level + 1 == hierarchy.levels.size();
    host_of_task = is_first ? filled(here.slots, here.graph.num_tasks(), hosts_in_order)
                            : projected(host_of_task, here.group_of_task);
    auto state = make_state(here.graph, Seating(here.slots, host_of_task));
    Freedom freedom(here.graph.num_tasks());
    const double share = is_last ? (is_first ? 1.0 : 1.0 - kCoarseShare)
                                 : kCoarseShare / static_cast<double>(hierarchy.levels.size() - 1);
    const double unit = temperature_unit(here.graph);
    const double hottest = unit * (is_last    ? hot
                                   : is_first ? kHotOfGroups
                                              : std::min(hot, kHotBetween));
    if (unit > 0.0) {
      Annealing(state, freedom, Random(random.next()))
          .run({.hot = hottest,
                .cold = std::min(hottest * kColdRatio, unit * kColdOfGroups),
                .num_steps = static_cast<std::int64_t>(
                    static_cast<double>(plan.proposals_per_start) * share * part),
                .limit_s = plan.limit_s * share * part},
               watch);
    }
    const auto hosts = state.seating().host_of_task();
    host_of_task.assign(hosts.begin(), hosts.end());
  }
  return host_of_task;
}

/// From a given placement, as far as it may be left.
template <typename State>
HostOfTask walk_from(const Plan& plan, int start, State state, double hot, double cold, double part,
                     Watch& watch) {
  Freedom freedom = plan.freedom();
  Annealing(state, freedom, Random(plan.options.seed, static_cast<std::uint64_t>(start)))
      .run({.hot = hot,
            .cold = cold,
            .num_steps =
                static_cast<std::int64_t>(static_cast<double>(plan.proposals_per_start) * part),
            .limit_s = plan.limit_s * part},
           watch);
  if constexpr (requires { state.best_host_of_task(); }) return state.best_host_of_task();
  const auto hosts = state.seating().host_of_task();
  return {hosts.begin(), hosts.end()};
}

const HostOfTask& given_start(const Plan& plan, int start) {
  return plan.starts[static_cast<std::size_t>(start) % plan.starts.size()];
}

/// The best of what was given and what was found, by the exact objective.
template <typename Value>
Placement best_of(const Plan& plan, std::vector<HostOfTask> found, Value value) {
  std::vector<HostOfTask> candidates = plan.starts;
  std::ranges::move(found, std::back_inserter(candidates));
  std::size_t best = 0;
  double best_value = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    if (candidates[index].empty() && plan.num_tasks > 0) continue;  // not begun in time
    const double its_value = value(widen(candidates[index]));
    if (its_value < best_value) {
      best = index;
      best_value = its_value;
    }
  }
  return widen(candidates[best]);
}

/// By the number of entries in the table of tasks and hosts: the caches decide.
double proposals_per_s(std::size_t num_entries) {
  if (num_entries <= std::size_t{1} << 14) return 28e6;
  if (num_entries <= std::size_t{1} << 16) return 18e6;
  if (num_entries <= std::size_t{1} << 18) return 11e6;
  return 5.5e6;
}

double mean_exchange(const RankMatrix& traffic) {
  double sum = 0.0;
  std::int64_t number = 0;
  traffic.for_each([&](std::size_t src, std::size_t dst, double value) {
    sum += src == dst ? 0.0 : value;
    number += src == dst ? 0 : 1;
  });
  return number > 0 ? sum / static_cast<double>(number) : 0.0;
}

double unit_scale(const RankMatrix& traffic) {
  const double mean = mean_exchange(traffic);
  return mean > 0.0 ? 1.0 / mean : 1.0;
}

std::vector<double> seconds_per_byte(const HostMatrix& bandwidth_Bps) {
  std::vector<double> cost;
  for (const double rate_Bps : bandwidth_Bps.values) cost.push_back(1.0 / rate_Bps);
  return cost;
}

}  // namespace
}  // namespace optimizing

using namespace optimizing;

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostMatrix& cost,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const Plan plan(options, slots, traffic.num_ranks(),
                  proposals_per_s(traffic.num_ranks() * cost.num_hosts));
  const TaskGraph graph(traffic, unit_scale(traffic));
  const HostCosts costs(cost);
  const auto make_state = [&costs](const TaskGraph& level, Seating seating) {
    return SumState(level, costs, std::move(seating));
  };
  const auto walk = [&](int start, Watch& watch) {
    if (plan.is_free()) {
      return walk_levels(plan, graph, start, 1.0, in_order(costs.num_hosts()), watch, make_state);
    }
    const double hot = temperature_unit(graph) * kHotOfTasks[static_cast<std::size_t>(start) % 4];
    return walk_from(plan, start, make_state(graph, Seating(plan.slots, given_start(plan, start))),
                     hot, hot * kColdRatio, 1.0, watch);
  };
  return best_of(
      plan, run_starts(options, plan.num_starts, plan.proposals_per_start, walk),
      [&](const Placement& placement) { return weighted_sum(traffic, cost, placement); });
}

std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic, const HostTree& tree,
                                       std::span<const std::int64_t> slots,
                                       const OptimizeOptions& options) {
  const TreeCosts costs(tree);
  OptimizeOptions with_start = options;
  std::vector<Placement> starts(options.starts.begin(), options.starts.end());
  const SlotsOfHost slots_of_host = narrow(slots);
  if (starts.empty()) {
    starts.push_back(widen(filled(slots_of_host, static_cast<std::int32_t>(traffic.num_ranks()),
                                  costs.in_tree_order())));
    with_start.starts = starts;
  }
  const Plan plan(with_start, slots, traffic.num_ranks(), kTreePerS);
  const TaskGraph graph(traffic, unit_scale(traffic));
  const auto make_state = [&costs](const TaskGraph& level, Seating seating) {
    return TreeState(level, costs, std::move(seating));
  };
  const auto walk = [&](int start, Watch& watch) {
    if (plan.is_free() && start % 2 == 1) {
      return walk_levels(plan, graph, start, 1.0, costs.in_tree_order(), watch, make_state);
    }
    // A large job's own order is a good one; a cool walk keeps it.
    const double hot = temperature_unit(graph) * kHotOfTasks[1];
    return walk_from(plan, start, make_state(graph, Seating(plan.slots, given_start(plan, start))),
                     hot, hot * kColdRatio, 1.0, watch);
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

std::vector<std::int64_t> optimize_bottleneck(const RankMatrix& bytes, const RankMatrix& messages,
                                              const MeasuredNetwork& network,
                                              std::span<const std::int64_t> slots,
                                              const OptimizeOptions& options) {
  const TaskGraph byte_graph(bytes, 1.0), message_graph(messages, 1.0);
  const double exchanges_per_task =
      static_cast<double>(byte_graph.num_exchanges() + message_graph.num_exchanges()) /
      static_cast<double>(std::max<std::size_t>(1, bytes.num_ranks()));
  const Plan plan(options, slots, bytes.num_ranks(),
                  kBottleneckExchangesPerS / std::max(1.0, exchanges_per_task));
  const TaskGraph scaled(bytes, unit_scale(bytes));
  const std::vector<double> cost = seconds_per_byte(network.bandwidth_Bps);
  const HostCosts costs({.num_hosts = network.bandwidth_Bps.num_hosts, .values = cost});
  const Resources resources(network);
  const auto walk = [&](int start, Watch& watch) {
    HostOfTask begin = given_start(plan, start);
    // A small sum is often near a small maximum, and much faster found.
    double part = 1.0;
    if (plan.is_free() && start % 2 == 0) {
      begin = walk_levels(plan, scaled, start, part = 0.5, in_order(costs.num_hosts()), watch,
                          [&costs](const TaskGraph& level, Seating seating) {
                            return SumState(level, costs, std::move(seating));
                          });
    }
    BottleneckState state(byte_graph, message_graph, resources, costs, Seating(plan.slots, begin));
    const double hot = kHotOfBottleneck * state.energy_s();
    if (!(hot > 0.0)) return begin;
    return walk_from(plan, start, std::move(state), hot, hot * kColdOfBottleneck, part, watch);
  };
  return best_of(plan, run_starts(options, plan.num_starts, plan.proposals_per_start, walk),
                 [&](const Placement& placement) {
                   return evaluate(bytes, messages, network, placement).bottleneck_s;
                 });
}

}  // namespace fairlead
