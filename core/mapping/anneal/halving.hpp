// SPDX-License-Identifier: Apache-2.0
// Two halves of a graph of tasks, of exactly the wanted sizes, with little traffic between them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

/// Side of each task, 0 or 1.
using Sides = std::vector<char>;

/// Multilevel bisection: tasks are paired, pairs are paired, ... until few are left; these are cut,
/// and the cut is refined on the way back.
/// @param num_first  tasks on side 0, in [1, num_tasks())
///
/// Source: Karypis and Kumar 1998, A fast and high quality multilevel scheme for partitioning
/// irregular graphs.
[[nodiscard]] Sides bisect(const TaskGraph& graph, std::int32_t num_first, Random random);

/// Moves tasks, or groups of them, until side 0 has its weight, and then as long as this reduces
/// the traffic across; single moves may increase it.
/// @param weights  tasks in each group
/// @param tolerance  how far the weight of side 0 may be off in the end
///
/// Source: Fiduccia and Mattheyses 1982, A linear-time heuristic for improving network partitions;
/// with heaps, as traffic is no small integer.
void refine_halves(const TaskGraph& graph, const std::vector<std::int32_t>& weights,
                   std::int32_t weight_of_first, std::int32_t tolerance, Sides& sides);

/// The traffic across the cut.
[[nodiscard]] double cut_of(const TaskGraph& graph, const Sides& sides);

}  // namespace fairlead::optimizing
