// SPDX-License-Identifier: Apache-2.0
// Groups of tasks that communicate most with one another, all of one size.
#include "mapping/anneal/task_groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/element.hpp"

namespace fairlead::optimizing {
namespace {

// Most tasks to search for a near one that is not in a group.
constexpr std::size_t kMostVisited = 64;

class Grower {
 public:
  Grower(const TaskGraph& graph, std::int32_t group_size, Random random)
      : graph_(graph),
        group_size_(static_cast<std::size_t>(group_size)),
        random_(random),
        is_member_(static_cast<std::size_t>(graph.num_tasks()), 0),
        inside_(static_cast<std::size_t>(graph.num_tasks()), 0.0),
        free_(static_cast<std::size_t>(graph.num_tasks()), 0.0),
        visit_(static_cast<std::size_t>(graph.num_tasks()), -1) {
    grouping_.group_of_task.assign(static_cast<std::size_t>(graph.num_tasks()), -1);
    for (std::int32_t task = 0; task < graph.num_tasks(); ++task) {
      for (const Exchange& exchange : graph.of(task)) at(free_, task) += exchange.both();
    }
  }

  Grouping run() {
    const std::vector<std::int32_t> order = shuffled();
    for (const std::int32_t seed : order) {
      if (!is_free(seed)) continue;
      grow(seed);
      if (members_.size() == group_size_) {
        close();
      } else {
        clear();
      }
    }
    for (const std::int32_t seed : order) {
      if (!is_free(seed)) continue;
      gather_left_over(seed);
    }
    return std::move(grouping_);
  }

 private:
  [[nodiscard]] bool is_free(std::int32_t task) const {
    return at(grouping_.group_of_task, task) < 0;
  }
  [[nodiscard]] bool is_member(std::int32_t task) const { return at(is_member_, task) != 0; }

  std::vector<std::int32_t> shuffled() {
    std::vector<std::int32_t> order(static_cast<std::size_t>(graph_.num_tasks()));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t last = order.size(); last > 1; --last) {
      std::swap(order[last - 1],
                order[static_cast<std::size_t>(random_.below(static_cast<std::int32_t>(last)))]);
    }
    // Tasks with few partners come first, since they have the least choice.
    std::ranges::stable_sort(order, {},
                             [this](std::int32_t task) { return graph_.of(task).size(); });
    return order;
  }

  void grow(std::int32_t seed) {
    add(seed);
    while (members_.size() < group_size_) {
      std::int32_t best = -1;
      double best_rating = 0.0;
      for (const std::int32_t candidate : candidates_) {
        if (is_member(candidate)) continue;
        // The share of a task's messages that stay in the group: tasks with few other messages come
        // first.
        const double rating = at(inside_, candidate) / at(free_, candidate);
        if (rating > best_rating) {
          best = candidate;
          best_rating = rating;
        }
      }
      if (best < 0) return;
      add(best);
    }
  }

  void add(std::int32_t task) {
    join(task);
    for (const Exchange& exchange : graph_.of(task)) {
      if (!is_free(exchange.peer)) continue;
      if (at(inside_, exchange.peer) == 0.0) candidates_.push_back(exchange.peer);
      at(inside_, exchange.peer) += exchange.both();
    }
  }

  void close() {
    for (const std::int32_t member : members_) {
      at(grouping_.group_of_task, member) = grouping_.num_groups;
      for (const Exchange& exchange : graph_.of(member)) {
        at(free_, exchange.peer) -= exchange.both();
      }
    }
    ++grouping_.num_groups;
    clear();
  }

  void clear() {
    for (const std::int32_t member : members_) at(is_member_, member) = 0;
    for (const std::int32_t candidate : candidates_) at(inside_, candidate) = 0.0;
    members_.clear();
    candidates_.clear();
  }

  /// Fills a group by breadth-first search through the graph, then by any others in turn.
  void gather_left_over(std::int32_t seed) {
    join(seed);
    queue_.assign(1, seed);
    visit_[static_cast<std::size_t>(seed)] = seed;
    for (std::size_t next = 0; next < queue_.size() && members_.size() < group_size_; ++next) {
      for (const Exchange& exchange : graph_.of(queue_[next])) {
        std::int32_t& visit = visit_[static_cast<std::size_t>(exchange.peer)];
        if (visit == seed || queue_.size() >= kMostVisited) continue;
        visit = seed;
        queue_.push_back(exchange.peer);
        if (is_free(exchange.peer) && members_.size() < group_size_) join(exchange.peer);
      }
    }
    for (; members_.size() < group_size_ && first_left_ < graph_.num_tasks(); ++first_left_) {
      if (is_free(first_left_) && !is_member(first_left_)) join(first_left_);
    }
    close();
  }

  void join(std::int32_t task) {
    members_.push_back(task);
    at(is_member_, task) = 1;
  }

  const TaskGraph& graph_;
  std::size_t group_size_;
  Random random_;
  Grouping grouping_;
  std::vector<std::int32_t> members_;
  std::vector<std::int32_t> candidates_;  // free partners of the members
  std::vector<char> is_member_;
  std::vector<double> inside_;  // what each candidate exchanges with the members
  std::vector<double> free_;    // what each task exchanges with free ones, the members among them
  std::vector<std::int32_t> queue_;
  std::vector<std::int32_t> visit_;  // the last search that came by
  std::int32_t first_left_ = 0;      // all before are in a group
};

}  // namespace

Grouping group_tasks(const TaskGraph& graph, std::int32_t group_size, Random random) {
  return Grower(graph, group_size, random).run();
}

}  // namespace fairlead::optimizing
