// SPDX-License-Identifier: Apache-2.0
// Multilevel bisection of a graph of tasks.
#include "mapping/anneal/halving.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "mapping/anneal/task_groups.hpp"

namespace fairlead::optimizing {
namespace {

// Fewer groups are cut directly, from this many random starting tasks.
constexpr std::int32_t kFewTasks = 32;
constexpr int kTries = 8;

/// A graph of groups, and how many tasks each of them holds.
struct Level {
  TaskGraph graph;
  std::vector<std::int32_t> weights;
  std::vector<std::int32_t> group_of_task;  // in the next level
};

Level paired(Level& level, Random random) {
  Grouping grouping = group_tasks(level.graph, 2, random);
  std::vector<std::int32_t> weights(static_cast<std::size_t>(grouping.num_groups), 0);
  for (std::size_t task = 0; task < level.weights.size(); ++task) {
    weights[static_cast<std::size_t>(grouping.group_of_task[task])] += level.weights[task];
  }
  TaskGraph coarse = level.graph.contracted(grouping.group_of_task, grouping.num_groups);
  level.group_of_task = std::move(grouping.group_of_task);
  return {.graph = std::move(coarse), .weights = std::move(weights), .group_of_task = {}};
}

/// Side 0 grows from a random task, each time by the task that exchanges most with it.
Sides grow_side(const Level& level, std::int32_t weight_of_first, Random& random) {
  const std::int32_t num_tasks = level.graph.num_tasks();
  Sides sides(static_cast<std::size_t>(num_tasks), 1);
  std::vector<float> pull(sides.size(), 0.0F);
  std::priority_queue<std::pair<float, std::int32_t>> near;
  for (std::int32_t weight = 0; weight < weight_of_first;) {
    while (!near.empty() && sides[static_cast<std::size_t>(near.top().second)] == 0) near.pop();
    std::int32_t next = near.empty() ? random.below(num_tasks) : near.top().second;
    while (sides[static_cast<std::size_t>(next)] == 0) next = (next + 1) % num_tasks;
    sides[static_cast<std::size_t>(next)] = 0;
    weight += level.weights[static_cast<std::size_t>(next)];
    for (const Exchange& exchange : level.graph.of(next)) {
      const auto peer = static_cast<std::size_t>(exchange.peer);
      if (sides[peer] == 0) continue;
      near.emplace(pull[peer] += exchange.both(), exchange.peer);
    }
  }
  return sides;
}

Sides best_grown(const Level& level, std::int32_t weight_of_first, std::int32_t tolerance,
                 Random& random) {
  Sides best;
  double least = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Sides sides = grow_side(level, weight_of_first, random);
    refine_halves(level.graph, level.weights, weight_of_first, tolerance, sides);
    const double cut = cut_of(level.graph, sides);
    if (cut < least) {
      least = cut;
      best = std::move(sides);
    }
  }
  return best;
}

}  // namespace

Sides bisect(const TaskGraph& graph, std::int32_t num_first, Random random) {
  std::vector<Level> levels;
  const std::vector<std::int32_t> ones(static_cast<std::size_t>(graph.num_tasks()), 1);
  levels.push_back({.graph = graph, .weights = ones, .group_of_task = {}});
  while (levels.back().graph.num_tasks() > kFewTasks) {
    levels.push_back(paired(levels.back(), Random(random.next())));
  }
  Sides sides;
  for (std::size_t index = levels.size(); index-- > 0;) {
    const Level& level = levels[index];
    const std::int32_t tolerance = index == 0 ? 0 : std::ranges::max(level.weights);
    if (index + 1 == levels.size()) {
      sides = best_grown(level, num_first, tolerance, random);
      continue;
    }
    Sides finer;
    finer.reserve(level.group_of_task.size());
    for (const std::int32_t group : level.group_of_task) {
      finer.push_back(sides[static_cast<std::size_t>(group)]);
    }
    sides = std::move(finer);
    refine_halves(level.graph, level.weights, num_first, tolerance, sides);
  }
  return sides;
}

double cut_of(const TaskGraph& graph, const Sides& sides) {
  double cut = 0.0;
  for (std::int32_t task = 0; task < graph.num_tasks(); ++task) {
    for (const Exchange& exchange : graph.of(task)) {
      if (sides[static_cast<std::size_t>(task)] < sides[static_cast<std::size_t>(exchange.peer)]) {
        cut += static_cast<double>(exchange.both());
      }
    }
  }
  return cut;
}

}  // namespace fairlead::optimizing
