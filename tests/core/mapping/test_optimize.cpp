// SPDX-License-Identifier: Apache-2.0
// What the engine believes a swap changes is what it changes; groups of tasks are whole.
#include "fairlead/mapping/optimize.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "catch.hpp"
#include "mapping/anneal/bottleneck_state.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/anneal/direct_state.hpp"
#include "mapping/anneal/matrix_levels.hpp"
#include "mapping/anneal/sum_state.hpp"
#include "mapping/anneal/task_groups.hpp"
#include "mapping/anneal/tree_levels.hpp"
#include "mapping/anneal/walks.hpp"
#include "mapping/cost/host_costs.hpp"

namespace {

using namespace fairlead::optimizing;
using fairlead::BottleneckObjective;
using fairlead::OptimizeOptions;
using fairlead::Random;
using fairlead::Timer;
using Doubles = std::vector<double>;
using Indices = std::vector<std::int64_t>;

constexpr float kAnyLimit = std::numeric_limits<float>::infinity();

/// Random traffic of 12 tasks, with messages to themselves, on 5 hosts of 2 to 4 slots.
struct Case {
  std::mt19937 random{7};
  Indices row_start{0}, column;
  Doubles value, cost, bandwidth_Bps, latency_s, nic_Bps;
  std::vector<std::int32_t> slots{2, 4, 2, 4, 2};
  std::vector<std::int32_t> host_of_task{0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4};
  Indices group{0, 0, 0}, src{0, 0, 1}, dst{2, 3, 4};
  Doubles capacity_Bps{1e7};
  Doubles work_s, one_core_speed, all_cores_speed;

  Case() {
    std::lognormal_distribution<double> drawn(0.0, 1.0);
    for (int task = 0; task < 12; ++task) {
      for (int peer = 0; peer < 12; ++peer) {
        if (random() % 2 == 0) continue;
        column.push_back(peer);
        value.push_back(1e6 * drawn(random));
      }
      row_start.push_back(static_cast<std::int64_t>(column.size()));
    }
    for (int pair = 0; pair < 25; ++pair) {
      cost.push_back(drawn(random));
      bandwidth_Bps.push_back(1e8 * drawn(random));
      latency_s.push_back(1e-8 * drawn(random));
    }
    for (int host = 0; host < 5; ++host) nic_Bps.push_back(1e8 * drawn(random));
    for (int task = 0; task < 12; ++task) work_s.push_back(0.1 * drawn(random));
    for (int host = 0; host < 5; ++host) one_core_speed.push_back(drawn(random));
    for (int host = 0; host < 5; ++host) all_cores_speed.push_back(2 * drawn(random));
  }

  [[nodiscard]] fairlead::ComputeDemand demand() const {
    return {.work_s = work_s, .one_core_speed = one_core_speed, .all_cores_speed = all_cores_speed};
  }

  [[nodiscard]] fairlead::RankMatrix traffic() const {
    return {.row_start = row_start, .column = column, .value = value};
  }
  [[nodiscard]] fairlead::MeasuredNetwork network() const {
    return {.latency_s = {.num_hosts = 5, .values = latency_s},
            .bandwidth_Bps = {.num_hosts = 5, .values = bandwidth_Bps},
            .nic_out_Bps = nic_Bps,
            .nic_in_Bps = nic_Bps,
            .groups = {.group_of_pair = group,
                       .src_of_pair = src,
                       .dst_of_pair = dst,
                       .capacity_Bps = capacity_Bps}};
  }
};

/// Swaps tasks with occupants, and whole hosts, and compares the predicted change with the true
/// one.
template <typename State, typename Value>
void check_swaps(State& state, Value value, double tolerance) {
  std::mt19937 random(3);
  for (int step = 0; step < 300; ++step) {
    const auto task = static_cast<std::int32_t>(random() % 12);
    const auto occupant = static_cast<std::int32_t>(random() % 14);
    const double before = value();
    double predicted = 0.0;
    if (step % 10 == 0) {
      const std::int32_t one = step % 20 == 0 ? 0 : 1, other = one + 2;
      predicted = state.swap_hosts_change(one, other);
      state.swap_hosts(one, other);
    } else if (state.occupancy().host_of(task) != state.occupancy().host_of(occupant)) {
      predicted = state.swap_change(task, occupant, kAnyLimit);
      state.swap(task, occupant);
    }
    REQUIRE(std::abs(value() - before - predicted) < tolerance);
  }
}

}  // namespace

namespace {

/// With directed and with symmetric costs.
template <typename State>
void check_swaps_on_costs() {
  Case given;
  for (const bool is_symmetric : {false, true}) {
    for (std::size_t one = 0; is_symmetric && one < 5; ++one) {
      for (std::size_t other = 0; other < one; ++other) {
        given.cost[one * 5 + other] = given.cost[other * 5 + one];
      }
    }
    const TaskGraph graph(given.traffic(), 1e-6);
    const fairlead::HostMatrix cost{.num_hosts = 5, .values = given.cost};
    const HostCosts costs(cost);
    const double scale = static_cast<double>(costs(0, 1)) / given.cost[1];
    State state(graph, costs, Occupancy(given.slots, given.host_of_task));

    REQUIRE(costs.is_symmetric() == is_symmetric);
    check_swaps(
        state,
        [&] {
          const auto hosts = state.occupancy().host_of_task();
          const Indices wide(hosts.begin(), hosts.end());
          return fairlead::weighted_sum(given.traffic(), cost, wide) * 1e-6 * scale;
        },
        2e-3);
  }
}

}  // namespace

TEST_CASE("optimize: a swap changes the sum as predicted, by a table") {
  check_swaps_on_costs<SumState>();
}

TEST_CASE("optimize: a swap changes the sum as predicted, without a table") {
  check_swaps_on_costs<DirectState<HostCosts>>();
}

TEST_CASE("optimize: a swap changes the bottleneck's energy as predicted") {
  const auto objective =
      GENERATE(BottleneckObjective::bottleneck, BottleneckObjective::bottleneck_and_mean);
  const Case given;
  const TaskGraph graph(given.traffic(), 1.0);
  const HostCosts costs({.num_hosts = 5, .values = given.cost});
  const Resources resources(given.network());
  const auto state_of = [&](std::span<const std::int32_t> hosts) {
    return BottleneckState(graph, graph, resources, costs, objective,
                           Occupancy(given.slots, hosts));
  };
  BottleneckState state = state_of(given.host_of_task);

  check_swaps(state, [&] { return state_of(state.occupancy().host_of_task()).energy_s(); }, 1e-6);
}

TEST_CASE("optimize: a swap changes the energy of the slowest rank as predicted") {
  const Case given;
  const TaskGraph graph(given.traffic(), 1.0);
  const HostCosts costs({.num_hosts = 5, .values = given.cost});
  const Resources resources(given.network());
  const auto state_of = [&](std::span<const std::int32_t> hosts) {
    return BottleneckState(graph, graph, resources, costs, BottleneckObjective::bottleneck_and_mean,
                           Occupancy(given.slots, hosts), given.demand());
  };
  BottleneckState state = state_of(given.host_of_task);

  check_swaps(state, [&] { return state_of(state.occupancy().host_of_task()).energy_s(); }, 1e-6);
}

TEST_CASE("optimize: every start has some heat, also where groups keep all traffic inside") {
  using namespace fairlead::optimizing;
  CHECK(hot_of_tasks(0, 8000.0, melting_ratio(0.0)) > 0.0);
  CHECK(hot_of_tasks(0, 8000.0, melting_ratio(0.1)) < hot_of_tasks(0, 8000.0, melting_ratio(0.2)));
  CHECK(melting_ratio(0.5) == 1.0);
}

TEST_CASE("optimize: a time is planned for each thread, proposals are for all of them") {
  const std::vector<std::int64_t> slots(8, 4);
  const auto num_planned = [&slots](double time_limit_s, int num_threads) {
    OptimizeOptions options;
    options.time_limit_s = time_limit_s;
    options.num_threads = num_threads;
    const Budget budget(options, slots, 32, 1e6, false, Timer(), 0.0);
    return budget.num_starts * budget.proposals_per_start;
  };
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  CHECK(num_planned(1.0, 1) <= 1'000'000);
  CHECK(num_planned(1.0, 2) > num_planned(1.0, 1) * 3 / 2);
  CHECK(num_planned(1.0, 2) <= 2'000'000);
  CHECK(num_planned(kNoLimit, 2) == num_planned(kNoLimit, 1));
}

TEST_CASE("optimize: the best placement kept has the objective that evaluate computes") {
  const bool knows_demand = GENERATE(false, true);
  const auto objective = knows_demand ? BottleneckObjective::bottleneck_and_mean
                                      : GENERATE(BottleneckObjective::bottleneck,
                                                 BottleneckObjective::bottleneck_and_mean);
  const Case given;
  const auto demand = knows_demand ? given.demand() : fairlead::ComputeDemand{};
  const auto evaluated_s = [&](std::span<const std::int32_t> hosts) {
    const Indices wide(hosts.begin(), hosts.end());
    if (knows_demand) {
      return fairlead::slowest_rank_s(given.traffic(), given.traffic(), given.network(), demand,
                                      wide);
    }
    const auto cost = fairlead::evaluate(given.traffic(), given.traffic(), given.network(), wide);
    return objective == BottleneckObjective::bottleneck ? cost.bottleneck_s
                                                        : cost.bottleneck_and_mean_s;
  };
  const TaskGraph graph(given.traffic(), 1.0);
  const HostCosts costs({.num_hosts = 5, .values = given.cost});
  const Resources resources(given.network());
  BottleneckState state(graph, graph, resources, costs, objective,
                        Occupancy(given.slots, given.host_of_task), demand);
  double best_s = std::numeric_limits<double>::infinity();
  std::mt19937 random(5);
  for (int step = 0; step < 200; ++step) {
    const auto task = static_cast<std::int32_t>(random() % 12);
    const auto occupant = static_cast<std::int32_t>(random() % 14);
    if (state.occupancy().host_of(task) == state.occupancy().host_of(occupant)) continue;
    if (state.swap_change(task, occupant, kAnyLimit) > 0) continue;
    state.swap(task, occupant);
    state.keep_if_best();
    best_s = std::min(best_s, evaluated_s(state.occupancy().host_of_task()));
  }

  const double kept_s = evaluated_s(state.best_host_of_task());
  CHECK(kept_s <= best_s * (1 + 1e-6));
  CHECK(std::abs(state.best_s() / kept_s - 1) < 1e-6);
}

TEST_CASE("optimize: a swap changes a tree's sum as predicted") {
  const Case given;
  const TaskGraph graph(given.traffic(), 1e-6);
  const Indices groups{0, 0, 1, 1, 2, 0, 0, 0, 0, 1};
  const Doubles cost_of_level{1, 2, 5, 9};
  const TreeCosts costs({.num_hosts = 5, .group_of_host = groups, .cost_of_level = cost_of_level});
  DirectState<TreeCosts> state(graph, costs, Occupancy(given.slots, given.host_of_task));

  check_swaps(
      state,
      [&] {
        const auto hosts = state.occupancy().host_of_task();
        double sum = 0.0;
        given.traffic().for_each([&](std::size_t src, std::size_t dst, double value) {
          sum += value * 1e-6 * static_cast<double>(costs(hosts[src], hosts[dst]));
        });
        return sum;
      },
      2e-3);
}

TEST_CASE("optimize: groups of tasks are whole, but for one") {
  const Case given;
  const TaskGraph graph(given.traffic(), 1.0);
  for (const std::int32_t size : {2, 3, 5}) {
    const Grouping grouping = group_tasks(graph, size, Random(1));
    std::multiset<std::int32_t> members(grouping.group_of_task.begin(),
                                        grouping.group_of_task.end());
    REQUIRE(grouping.num_groups == (12 + size - 1) / size);
    for (std::int32_t group = 0; group + 1 < grouping.num_groups; ++group) {
      REQUIRE(static_cast<std::int32_t>(members.count(group)) == size);
    }
  }
}

TEST_CASE("optimize: seen from farther away, a tree has the same costs between its racks") {
  const Indices groups{4, 4, 1, 1, 2, 0, 0, 3, 3, 3};
  const Doubles cost_of_level{1, 2, 5, 9};
  const TreeLevels levels(
      {.num_hosts = 5, .group_of_host = groups, .cost_of_level = cost_of_level});

  REQUIRE(levels.costs.size() == 3);
  REQUIRE(levels.groupings.size() == 2);
  const auto& [rack_of_host, num_racks] = levels.groupings[0];
  const auto& [pod_of_rack, num_pods] = levels.groupings[1];
  REQUIRE(num_racks == 3);
  REQUIRE(num_pods == 2);
  for (std::int32_t one = 0; one < 5; ++one) {
    for (std::int32_t other = 0; other < 5; ++other) {
      const std::int32_t rack = rack_of_host[static_cast<std::size_t>(one)];
      const std::int32_t other_rack = rack_of_host[static_cast<std::size_t>(other)];
      const std::int32_t pod = pod_of_rack[static_cast<std::size_t>(rack)];
      const std::int32_t other_pod = pod_of_rack[static_cast<std::size_t>(other_rack)];
      const float cost = levels.costs[0](one, other);
      if (rack != other_rack) REQUIRE(levels.costs[1](rack, other_rack) == cost);
      if (pod != other_pod) REQUIRE(levels.costs[2](pod, other_pod) == cost);
    }
  }
}

TEST_CASE("optimize: the nearest hosts are paired, and pairs cost what their hosts do on average") {
  // Host 2k and 2k + 1 are near each other, whatever else they are near to.
  constexpr std::size_t kNumHosts = 129;
  Doubles cost;
  for (std::size_t src = 0; src < kNumHosts; ++src) {
    for (std::size_t dst = 0; dst < kNumHosts; ++dst) {
      const bool is_near = src / 2 == dst / 2;
      cost.push_back(src == dst ? 0.5 : is_near ? 1.0 : 10.0 + static_cast<double>(src + dst));
    }
  }

  const MatrixLevels levels({.num_hosts = kNumHosts, .values = cost});

  const auto& [pair_of_host, num_pairs] = levels.groupings.front();
  REQUIRE(num_pairs == 65);
  for (std::size_t host = 0; host + 1 < kNumHosts; host += 2) {
    REQUIRE(pair_of_host[host] == pair_of_host[host + 1]);
  }
  const std::int32_t one = pair_of_host[0], other = pair_of_host[100];
  // Hosts 0 and 1, 100 and 101: 10 + (100 + 101 + 101 + 102) / 4. Inside a pair: 1.
  const HostCosts& costs = levels.costs[1];
  REQUIRE(std::abs(costs(one, other) / costs(one, one) - 111.0F) < 1e-3F);
  REQUIRE(levels.costs.size() == levels.groupings.size() + 1);
}

TEST_CASE("optimize: from groups on racks to tasks on hosts, no slot is taken twice") {
  const Case given;
  const TaskGraph graph(given.traffic(), 1.0);
  const std::vector<std::int32_t> slots{2, 4, 2, 4, 6};
  const HostGrouping racks{.group_of_host = {0, 1, 0, 1, 1}, .num_groups = 2};

  const Coarsening coarsening = coarsen(graph, slots, std::span(&racks, 1), Random(1), false);

  REQUIRE(coarsening.levels.back().num_merges == 1);
  // Groups of two tasks: two of them fill the first rack, and four tasks are there.
  const Coarsening::Level& top = coarsening.levels.back();
  REQUIRE(top.slots == std::vector<std::int32_t>({2, 7}));
  HostOfTask host_of_task(static_cast<std::size_t>(top.graph.num_tasks()), 1);
  host_of_task[0] = host_of_task[1] = 0;
  for (std::size_t level = coarsening.levels.size() - 1; level-- > 0;) {
    host_of_task = refined(host_of_task, coarsening.levels[level]);
  }
  REQUIRE(host_of_task.size() == 12);
  std::vector<std::int32_t> taken(slots.size(), 0);
  for (const std::int32_t host : host_of_task) ++taken[static_cast<std::size_t>(host)];
  for (std::size_t host = 0; host < slots.size(); ++host) REQUIRE(taken[host] <= slots[host]);
  REQUIRE(taken[0] + taken[2] == 4);
}

TEST_CASE("optimize: a table of changes stays exact over very many swaps") {
  const Case given;
  const TaskGraph graph(given.traffic(), 1e-6);
  const HostCosts costs({.num_hosts = 5, .values = given.cost});
  SumState state(graph, costs, Occupancy(given.slots, given.host_of_task));
  std::mt19937 random(7);
  for (int step = 0; step < 1'000'000; ++step) {
    const auto task = static_cast<std::int32_t>(random() % 12);
    const auto occupant = static_cast<std::int32_t>(random() % 14);
    if (state.occupancy().host_of(task) != state.occupancy().host_of(occupant))
      state.swap(task, occupant);
  }
  const DirectState<HostCosts> exact(graph, costs, state.occupancy());
  for (std::int32_t task = 0; task < 12; ++task) {
    for (std::int32_t occupant = 0; occupant < 14; ++occupant) {
      if (state.occupancy().host_of(task) == state.occupancy().host_of(occupant)) continue;
      const float predicted = state.swap_change(task, occupant, kAnyLimit);
      REQUIRE(std::abs(predicted - exact.swap_change(task, occupant, kAnyLimit)) < 1e-3F);
    }
  }
}

TEST_CASE("optimize: swaps with vacancies update the spread as well") {
  const Indices row_start{0, 1, 2}, column{1, 0};
  const Doubles exchanged{1e6, 1e6};
  const TaskGraph graph(
      fairlead::RankMatrix{.row_start = row_start, .column = column, .value = exchanged}, 1e-6);
  const auto spread = [&graph](std::size_t num_hosts, const Doubles& cost) {
    const HostCosts costs({.num_hosts = num_hosts, .values = cost});
    const std::vector<std::int32_t> slots(num_hosts, 1), host_of_task{0, 1};
    return spread_of_swaps(DirectState(graph, costs, Occupancy(slots, host_of_task)), Random(1));
  };
  // Two tasks that change places cost what they did; so there is nothing to anneal on two hosts.
  CHECK(spread(2, {0, 1, 1, 0}) == 0.0);
  CHECK(spread(3, {0, 1, 5, 1, 0, 9, 5, 9, 0}) > 0.0);
}
