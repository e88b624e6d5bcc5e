// SPDX-License-Identifier: Apache-2.0
// A placement by cutting the tasks along the groups of hosts: into pods, these into racks, ...
#include "mapping/anneal/multisection.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "mapping/anneal/halving.hpp"

namespace fairlead::optimizing {
namespace {

/// A host, or a group of nodes of the level below.
struct Node {
  std::int64_t num_slots = 0;
  std::vector<std::size_t> children;  // positions of nodes; none: a host
  std::int32_t host = -1;
};

/// The hosts in the order of their groups, each level together.
class Tree {
 public:
  Tree(const SlotsOfHost& slots, std::span<const HostGrouping> groupings) {
    std::vector<std::size_t> level;
    for (std::size_t host = 0; host < slots.size(); ++host) {
      level.push_back(nodes_.size());
      nodes_.push_back(
          {.num_slots = slots[host], .children = {}, .host = static_cast<std::int32_t>(host)});
    }
    for (const HostGrouping& grouping : groupings) {
      std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(grouping.num_groups));
      for (std::size_t index = 0; index < level.size(); ++index) {
        members[static_cast<std::size_t>(grouping.group_of_host[index])].push_back(level[index]);
      }
      level.clear();
      for (auto& group : members) level.push_back(add(std::move(group)));
    }
    root_ = add(std::move(level));
  }

  [[nodiscard]] const Node& root() const { return nodes_[root_]; }
  [[nodiscard]] const Node& operator[](std::size_t position) const { return nodes_[position]; }

 private:
  std::size_t add(std::vector<std::size_t> children) {
    Node node;
    for (const std::size_t child : children) node.num_slots += nodes_[child].num_slots;
    node.children = std::move(children);
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  std::vector<Node> nodes_;
  std::size_t root_ = 0;
};

using Tasks = std::vector<std::int32_t>;

class Multisection {
 public:
  Multisection(const TaskGraph& graph, const Tree& tree, int num_tries, Random random,
               const StopCriterion& stop, double end_s)
      : graph_(graph),
        tree_(tree),
        num_tries_(num_tries),
        stop_(stop),
        end_s_(end_s),
        host_of_task_(static_cast<std::size_t>(graph.num_tasks()), -1),
        random_(random),
        vertex_of_task_(static_cast<std::size_t>(graph.num_tasks()), -1) {}

  HostOfTask run() {
    Tasks all(static_cast<std::size_t>(graph_.num_tasks()));
    std::iota(all.begin(), all.end(), 0);
    place(tree_.root(), std::move(all));
    return is_late_ ? HostOfTask{} : std::move(host_of_task_);
  }

 private:
  using Children = std::span<const std::size_t>;

  void place(const Node& node, Tasks tasks) {
    if (node.children.empty()) {
      for (const std::int32_t task : tasks) {
        host_of_task_[static_cast<std::size_t>(task)] = node.host;
      }
      return;
    }
    std::vector<std::size_t> children = node.children;
    // Where slots stay free, the largest groups are filled first, so that fewer are needed.
    std::ranges::stable_sort(children, std::ranges::greater{},
                             [this](std::size_t child) { return tree_[child].num_slots; });
    share_out(children, std::move(tasks));
  }

  /// Divides tasks between some groups of one parent, by repeated bisection.
  void share_out(Children children, Tasks tasks) {
    if (tasks.empty() || is_late()) return;
    if (children.size() == 1) return place(tree_[children.front()], std::move(tasks));
    const Children first = children.first(children.size() / 2);
    const Children second = children.subspan(first.size());
    const auto num_first = std::min(num_slots(first), static_cast<std::int64_t>(tasks.size()));
    auto [ones, others] = cut(std::move(tasks), static_cast<std::int32_t>(num_first));
    share_out(first, std::move(ones));
    share_out(second, std::move(others));
  }

  bool is_late() { return is_late_ = is_late_ || stop_.elapsed_s() >= end_s_; }

  [[nodiscard]] std::int64_t num_slots(Children children) const {
    std::int64_t sum = 0;
    for (const std::size_t child : children) sum += tree_[child].num_slots;
    return sum;
  }

  std::pair<Tasks, Tasks> cut(Tasks tasks, std::int32_t num_first) {
    if (num_first == static_cast<std::int32_t>(tasks.size())) return {std::move(tasks), Tasks{}};
    const TaskGraph part = graph_.part(tasks, vertex_of_task_);
    Sides sides;
    double least = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < num_tries_ && !(attempt > 0 && is_late()); ++attempt) {
      Sides found = bisect(part, num_first, Random(random_.next()));
      const double crossing = cut_of(part, found);
      if (crossing < least) {
        least = crossing;
        sides = std::move(found);
      }
    }
    std::pair<Tasks, Tasks> halves;
    for (std::size_t index = 0; index < tasks.size(); ++index) {
      (sides[index] == 0 ? halves.first : halves.second).push_back(tasks[index]);
    }
    return halves;
  }

  const TaskGraph& graph_;
  const Tree& tree_;
  int num_tries_;
  const StopCriterion& stop_;
  double end_s_;
  bool is_late_ = false;
  HostOfTask host_of_task_;
  Random random_;
  std::vector<std::int32_t> vertex_of_task_;  // -1 between two cuts
};

}  // namespace

HostOfTask multisection(const TaskGraph& graph, const SlotsOfHost& slots,
                        std::span<const HostGrouping> groupings, int num_tries, Random random,
                        const StopCriterion& stop, double end_s) {
  const Tree tree(slots, groupings);
  return Multisection(graph, tree, num_tries, random, stop, end_s).run();
}

}  // namespace fairlead::optimizing
