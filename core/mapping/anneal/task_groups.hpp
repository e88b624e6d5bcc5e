// SPDX-License-Identifier: Apache-2.0
// Groups of tasks that communicate most with one another, all of one size.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

struct Grouping {
  std::vector<std::int32_t> group_of_task;
  std::int32_t num_groups = 0;
};

/// Puts every task into a group of `group_size`; one group may have fewer. Each group grows from a
/// task by the partner that exchanges most with those already in it. Tasks that are left over are
/// grouped with one another, near ones in the graph first.
/// @param group_size  at least 2
[[nodiscard]] Grouping group_tasks(const TaskGraph& graph, std::int32_t group_size, Random random);

}  // namespace fairlead::optimizing
