// SPDX-License-Identifier: Apache-2.0
// Groups of tasks, level by level.
#include "mapping/optimize/multilevel.hpp"

#include <numeric>
#include <utility>

#include "mapping/optimize/coarsening.hpp"

namespace fairlead::optimizing {
namespace {

std::int32_t smallest_factor(std::int32_t number) {
  for (std::int32_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) return factor;
  }
  return number;
}

Grouping consecutive(std::int32_t num_tasks, std::int32_t size) {
  Grouping grouping;
  for (std::int32_t task = 0; task < num_tasks; ++task) {
    grouping.group_of_task.push_back(task / size);
  }
  grouping.num_groups = (num_tasks + size - 1) / size;
  return grouping;
}

}  // namespace

HostOfTask projected(std::span<const std::int32_t> host_of_group,
                     std::span<const std::int32_t> group_of_task) {
  HostOfTask host_of_task;
  host_of_task.reserve(group_of_task.size());
  for (const std::int32_t group : group_of_task) {
    host_of_task.push_back(host_of_group[static_cast<std::size_t>(group)]);
  }
  return host_of_task;
}

Hierarchy coarsen(const TaskGraph& graph, const SlotsOfHost& slots, Random random,
                  bool keeps_order) {
  Hierarchy hierarchy;
  hierarchy.levels.push_back({.graph = graph, .slots = slots, .group_of_task = {}});
  for (;;) {
    Hierarchy::Level& level = hierarchy.levels.back();
    const std::int32_t divisor = std::accumulate(
        level.slots.begin(), level.slots.end(), 0,
        [](std::int32_t left, std::int32_t right) { return std::gcd(left, right); });
    if (divisor < 2) return hierarchy;
    const std::int32_t size = smallest_factor(divisor);
    Grouping grouping = keeps_order ? consecutive(level.graph.num_tasks(), size)
                                    : group_tasks(level.graph, size, Random(random.next()));
    SlotsOfHost coarse_slots = level.slots;
    for (std::int32_t& number : coarse_slots) number /= size;
    TaskGraph coarse = level.graph.contracted(grouping.group_of_task, grouping.num_groups);
    level.group_of_task = std::move(grouping.group_of_task);
    hierarchy.levels.push_back(
        {.graph = std::move(coarse), .slots = std::move(coarse_slots), .group_of_task = {}});
  }
}

}  // namespace fairlead::optimizing
