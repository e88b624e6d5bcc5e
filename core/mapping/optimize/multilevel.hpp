// SPDX-License-Identifier: Apache-2.0
// One walk of the engine: groups of tasks first, then smaller ones, then the tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mapping/optimize/random.hpp"
#include "mapping/optimize/task_graph.hpp"

namespace fairlead::optimizing {

using HostOfTask = std::vector<std::int32_t>;
using SlotsOfHost = std::vector<std::int32_t>;

/// Graphs of tasks, of groups of them, of groups of groups, ... up to the largest groups that fill
/// every host's slots without a rest.
struct Hierarchy {
  struct Level {
    TaskGraph graph;
    SlotsOfHost slots;
    std::vector<std::int32_t> group_of_task;  ///< in the next level; empty in the last
  };
  std::vector<Level> levels;
};

/// @param keeps_order  whether the lowest groups are of consecutive tasks, as programs number them
[[nodiscard]] Hierarchy coarsen(const TaskGraph& graph, const SlotsOfHost& slots, Random random,
                                bool keeps_order);

/// Every task on the host of its group.
[[nodiscard]] HostOfTask projected(std::span<const std::int32_t> host_of_group,
                                   std::span<const std::int32_t> group_of_task);

}  // namespace fairlead::optimizing
