// SPDX-License-Identifier: Apache-2.0
// The levels of a coarsening, and placements from one level to the one below.
#include "mapping/anneal/coarsening.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "mapping/anneal/task_groups.hpp"

namespace fairlead::optimizing {
namespace {

std::int32_t smallest_factor(std::int32_t number) {
  for (std::int32_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) return factor;
  }
  return number;
}

std::int32_t greatest_divisor(const SlotsOfHost& slots) {
  return std::accumulate(slots.begin(), slots.end(), 0, [](std::int32_t left, std::int32_t right) {
    return std::gcd(left, right);
  });
}

Grouping consecutive(std::int32_t num_tasks, std::int32_t size) {
  Grouping grouping;
  for (std::int32_t task = 0; task < num_tasks; ++task) {
    grouping.group_of_task.push_back(task / size);
  }
  grouping.num_groups = (num_tasks + size - 1) / size;
  return grouping;
}

/// The level above, with groups of `size` tasks.
Coarsening::Level with_tasks_grouped(Coarsening::Level& level, std::int32_t size, Random random,
                                     bool keeps_order) {
  Grouping grouping = keeps_order ? consecutive(level.graph.num_tasks(), size)
                                  : group_tasks(level.graph, size, random);
  SlotsOfHost coarse_slots = level.slots;
  for (std::int32_t& number : coarse_slots) number /= size;
  TaskGraph coarse = level.graph.contracted(grouping.group_of_task, grouping.num_groups);
  level.group_of_task = std::move(grouping.group_of_task);
  return {.graph = std::move(coarse),
          .slots = std::move(coarse_slots),
          .num_merges = level.num_merges,
          .group_of_task = {},
          .group_of_host = {}};
}

/// The level above, with groups of hosts.
Coarsening::Level with_hosts_grouped(Coarsening::Level& level, const HostGrouping& grouping) {
  level.group_of_host = grouping.group_of_host;
  SlotsOfHost slots(static_cast<std::size_t>(grouping.num_groups), 0);
  for (std::size_t host = 0; host < level.slots.size(); ++host) {
    slots[static_cast<std::size_t>(grouping.group_of_host[host])] += level.slots[host];
  }
  return {.graph = level.graph,
          .slots = std::move(slots),
          .num_merges = level.num_merges + 1,
          .group_of_task = {},
          .group_of_host = {}};
}

/// Every task on the host of its group.
HostOfTask projected(const HostOfTask& host_of_group, std::span<const std::int32_t> group_of_task) {
  HostOfTask host_of_task;
  host_of_task.reserve(group_of_task.size());
  for (const std::int32_t group : group_of_task) {
    host_of_task.push_back(host_of_group[static_cast<std::size_t>(group)]);
  }
  return host_of_task;
}

/// Every task on a host of the group that it was placed on; the hosts are filled in their order.
HostOfTask dealt_out(const HostOfTask& group_of_task, const Coarsening::Level& level) {
  std::vector<std::vector<std::int32_t>> vacant_hosts;
  for (std::size_t host = level.slots.size(); host-- > 0;) {
    const auto group = static_cast<std::size_t>(level.group_of_host[host]);
    if (group >= vacant_hosts.size()) vacant_hosts.resize(group + 1);
    vacant_hosts[group].insert(vacant_hosts[group].end(),
                               static_cast<std::size_t>(level.slots[host]),
                               static_cast<std::int32_t>(host));
  }
  HostOfTask host_of_task;
  host_of_task.reserve(group_of_task.size());
  for (const std::int32_t group : group_of_task) {
    auto& hosts = vacant_hosts[static_cast<std::size_t>(group)];
    host_of_task.push_back(hosts.back());
    hosts.pop_back();
  }
  return host_of_task;
}

}  // namespace

double Coarsening::between_share() const {
  const auto traffic = [](const TaskGraph& graph) {
    return graph.mean_both() * static_cast<double>(graph.num_exchanges());
  };
  const auto above =
      std::ranges::find_if(levels, [](const Level& it) { return it.num_merges > 0; });
  const double all = traffic(levels.front().graph);
  return all > 0.0 ? traffic(std::prev(above)->graph) / all : 1.0;
}

Coarsening coarsen(const TaskGraph& graph, const SlotsOfHost& slots,
                   std::span<const HostGrouping> groupings, Random random, bool keeps_order) {
  Coarsening coarsening;
  coarsening.levels.push_back(
      {.graph = graph, .slots = slots, .num_merges = 0, .group_of_task = {}, .group_of_host = {}});
  for (;;) {
    Coarsening::Level& level = coarsening.levels.back();
    const std::int32_t divisor = greatest_divisor(level.slots);
    if (divisor >= 2) {
      const std::int32_t size = smallest_factor(divisor);
      coarsening.levels.push_back(
          with_tasks_grouped(level, size, Random(random.next()), keeps_order));
    } else if (level.num_merges < groupings.size()) {
      coarsening.levels.push_back(with_hosts_grouped(level, groupings[level.num_merges]));
    } else {
      return coarsening;
    }
  }
}

HostOfTask refined(const HostOfTask& host_of_group, const Coarsening::Level& level) {
  return level.group_of_task.empty() ? dealt_out(host_of_group, level)
                                     : projected(host_of_group, level.group_of_task);
}

}  // namespace fairlead::optimizing
