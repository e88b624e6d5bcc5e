// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithms 3 and 4: leaders of the groups of its hierarchy, and the tree that they make.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

#include "collectives/methods/methods.hpp"
#include "fairlead/collectives/hierarchy.hpp"

namespace fairlead::collectives {
namespace {

/// On each level, lowest first: groups of those who lead a group of the level below, leader first.
class Leaders {
 public:
  Leaders(const Hierarchy& hierarchy, std::size_t num_hosts, std::int32_t root)
      : hierarchy_(hierarchy), num_hosts_(num_hosts), root_(root) {
    std::vector<std::int32_t> candidates(num_hosts);
    for (std::size_t host = 0; host < num_hosts; ++host) {
      candidates[host] = static_cast<std::int32_t>(host);
    }
    for (const auto& group_of_host : hierarchy.group_of_host) {
      std::map<std::int32_t, Group> groups;
      for (const std::int32_t host : candidates) {
        groups[group_of_host[static_cast<std::size_t>(host)]].push_back(host);
      }
      candidates.clear();
      std::vector<Group> level;
      for (auto& [number, group] : groups) {
        put_leader_first(group);
        candidates.push_back(group.front());
        if (group.size() > 1) level.push_back(std::move(group));
      }
      if (!level.empty()) levels_.push_back(std::move(level));
    }
  }

  [[nodiscard]] const std::vector<std::vector<Group>>& levels() const { return levels_; }

 private:
  /// The root, or whose costs to and from all others of the group add up to the least.
  void put_leader_first(Group& group) const {
    auto leader = std::find(group.begin(), group.end(), root_);
    if (leader == group.end()) {
      leader =
          std::min_element(group.begin(), group.end(), [&](std::int32_t left, std::int32_t right) {
            return sum_s(group, left) < sum_s(group, right);
          });
    }
    std::iter_swap(group.begin(), leader);
  }

  [[nodiscard]] double sum_s(const Group& group, std::int32_t host) const {
    const auto own = static_cast<std::size_t>(host);
    double total_s = 0.0;
    for (const std::int32_t other : group) {
      const auto peer = static_cast<std::size_t>(other);
      total_s += hierarchy_.transfer_s[own * num_hosts_ + peer] +
                 hierarchy_.transfer_s[peer * num_hosts_ + own];
    }
    return total_s;
  }

  const Hierarchy& hierarchy_;
  std::size_t num_hosts_;
  std::int32_t root_;
  std::vector<std::vector<Group>> levels_;
};

}  // namespace

Schedule plan_cmpi(const Problem& problem) {
  const Request& request = problem.request;
  const Hierarchy hierarchy =
      build_hierarchy(problem.network, {.message_bytes = largest_block_bytes(request)});
  const std::size_t num_hosts = problem.links.num_hosts();
  const Leaders leaders(hierarchy, num_hosts, request.root);
  const bool is_split = is_supported(request.operation, Form::split_tree);
  Schedule schedule = begun(problem, is_split ? Form::split_tree : Form::levels);
  if (is_split) {
    ParentOfHost parent_of_host(num_hosts, kNoHost);
    for (const auto& groups : leaders.levels()) {
      for (const Group& group : groups) {
        for (const std::int32_t host : group) {
          if (host != group.front()) {
            parent_of_host[static_cast<std::size_t>(host)] = group.front();
          }
        }
      }
    }
    schedule.trees = {std::move(parent_of_host)};
  } else {
    schedule.levels.assign(leaders.levels().rbegin(), leaders.levels().rend());
    if (schedule.levels.empty()) schedule.levels = {{{request.root}}};
  }
  Schedule best;
  keep_faster(problem, std::move(schedule), best);
  return best;
}

}  // namespace fairlead::collectives
