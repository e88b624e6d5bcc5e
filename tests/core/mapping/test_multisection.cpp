// SPDX-License-Identifier: Apache-2.0
// Cuts of graphs of tasks: halves of exact sizes, a grid into cubes, slots kept.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "mapping/anneal/halving.hpp"
#include "mapping/anneal/multisection.hpp"
#include "mapping/anneal/tree_levels.hpp"

namespace {

using namespace fairlead::optimizing;
using fairlead::Random;
using fairlead::Timer;
using Indices = std::vector<std::int64_t>;

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

/// Neighbours along each axis of a cube of tasks exchange 1 both ways.
struct Grid {
  explicit Grid(int length) {
    const auto task = [length](std::array<int, 3> at) {
      return (at[0] * length + at[1]) * length + at[2];
    };
    for (int number = 0; number < length * length * length; ++number) {
      const std::array at{number / length / length, number / length % length, number % length};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        for (const int step : {-1, 1}) {
          std::array other = at;
          other[axis] += step;
          if (other[axis] < 0 || other[axis] >= length) continue;
          column.push_back(task(other));
        }
      }
      row_start.push_back(static_cast<std::int64_t>(column.size()));
    }
    value.assign(column.size(), 1.0);
  }

  [[nodiscard]] fairlead::RankMatrix traffic() const {
    return {.row_start = row_start, .column = column, .value = value};
  }

  Indices row_start{0}, column;
  std::vector<double> value;
};

/// Traffic between tasks that are in different groups, both directions together.
double crossing(const TaskGraph& graph, const std::vector<std::int32_t>& group_of_task) {
  double sum = 0.0;
  for (std::int32_t task = 0; task < graph.num_tasks(); ++task) {
    for (const Exchange& exchange : graph.of(task)) {
      const bool is_apart = group_of_task[static_cast<std::size_t>(task)] !=
                            group_of_task[static_cast<std::size_t>(exchange.peer)];
      sum += is_apart ? static_cast<double>(exchange.out) : 0.0;
    }
  }
  return sum;
}

HostOfTask sections(const TaskGraph& graph, const SlotsOfHost& slots,
                    const std::vector<HostGrouping>& groupings) {
  const fairlead::OptimizeOptions options;
  const StopCriterion stop(options, 1, Timer(), kNoEnd);
  return multisection(graph, slots, groupings, 4, Random(1), stop, kNoEnd);
}

/// Hosts in groups of `size`.
HostGrouping in_groups(std::int32_t num_hosts, std::int32_t size) {
  HostGrouping grouping;
  for (std::int32_t host = 0; host < num_hosts; ++host) {
    grouping.group_of_host.push_back(host / size);
  }
  grouping.num_groups = (num_hosts + size - 1) / size;
  return grouping;
}

}  // namespace

TEST_CASE("multisection: halves have exactly the wanted sizes, also without any traffic") {
  std::mt19937 random(5);
  for (const int num_tasks : {2, 3, 30, 100}) {
    Indices row_start{0}, column;
    for (int task = 0; task < num_tasks; ++task) {
      for (int peer = 0; num_tasks != 30 && peer < 3; ++peer) {
        column.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(num_tasks)));
      }
      row_start.push_back(static_cast<std::int64_t>(column.size()));
    }
    const std::vector<double> value(column.size(), 1.0);
    const TaskGraph graph({.row_start = row_start, .column = column, .value = value}, 1.0);
    for (int num_first = 1; num_first < num_tasks; num_first += 7) {
      const Sides sides = bisect(graph, num_first, Random(2));
      REQUIRE(std::ranges::count(sides, 0) == num_first);
    }
  }
}

TEST_CASE("multisection: a cube of 8 x 8 x 8 tasks is cut into cubes for racks and hosts") {
  const Grid grid(8);
  const TaskGraph graph(grid.traffic(), 1.0);

  const HostOfTask host_of_task = sections(graph, SlotsOfHost(64, 8), {in_groups(64, 8)});

  std::vector<std::int32_t> rack_of_task;
  for (const std::int32_t host : host_of_task) rack_of_task.push_back(host / 8);
  // A cube of 4 x 4 x 4 loses a face of 16 on 3 sides, one of 2 x 2 x 2 a face of 4.
  REQUIRE(crossing(graph, rack_of_task) == 8 * 3 * 16);
  REQUIRE(crossing(graph, host_of_task) == 64 * 6 * 4 - 6 * 64);
}

TEST_CASE("multisection: slots are kept where hosts differ and some stay free") {
  const Grid grid(4);
  const TaskGraph graph(grid.traffic(), 1.0);
  const SlotsOfHost slots{9, 0, 20, 7, 3, 31, 1, 12};  // 83 for 64 tasks

  const HostOfTask host_of_task = sections(graph, slots, {in_groups(8, 3)});

  SlotsOfHost used(8, 0);
  for (const std::int32_t host : host_of_task) ++used[static_cast<std::size_t>(host)];
  REQUIRE(std::accumulate(used.begin(), used.end(), 0) == 64);
  for (std::size_t host = 0; host < 8; ++host) REQUIRE(used[host] <= slots[host]);
}

TEST_CASE("multisection: what has no time left has no result") {
  const Grid grid(4);
  const fairlead::OptimizeOptions options;
  const StopCriterion stop(options, 1, Timer(), 0.0);

  REQUIRE(
      multisection(TaskGraph(grid.traffic(), 1.0), SlotsOfHost(8, 8), {}, 4, Random(1), stop, 0.0)
          .empty());
}
