// SPDX-License-Identifier: Apache-2.0
// Coarsening of a problem level by level: graphs of tasks, of groups of tasks, of larger groups.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

using HostOfTask = std::vector<std::int32_t>;
using SlotsOfHost = std::vector<std::int32_t>;

/// Hosts that are treated as one, such as those of a rack.
struct HostGrouping {
  std::vector<std::int32_t> group_of_host;  ///< from 0, none empty
  std::int32_t num_groups = 0;
};

/// Graphs of tasks, of groups of them, of groups of groups, ... up to the largest groups that fill
/// every host's slots without a rest; then the same for groups of hosts.
struct Coarsening {
  struct Level {
    TaskGraph graph;
    SlotsOfHost slots;
    std::size_t num_merges = 0;               ///< groupings of hosts below this level
    std::vector<std::int32_t> group_of_task;  ///< in the next level; empty where tasks stay alone
    std::vector<std::int32_t> group_of_host;  ///< in the next level; empty where hosts stay alone
  };
  std::vector<Level> levels;

  /// Part of the tasks' traffic that is between groups that one host holds; 1 where there is no
  /// traffic.
  [[nodiscard]] double between_share() const;
};

/// @param groupings  of the hosts, of these groups, ...
/// @param keeps_order  whether groups are of consecutive tasks, as programs number them
[[nodiscard]] Coarsening coarsen(const TaskGraph& graph, const SlotsOfHost& slots,
                                 std::span<const HostGrouping> groupings, Random random,
                                 bool keeps_order);

/// A placement of the next level as one of this level.
[[nodiscard]] HostOfTask refined(const HostOfTask& host_of_group, const Coarsening::Level& level);

}  // namespace fairlead::optimizing
