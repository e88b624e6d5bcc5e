// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithm 3: leaders by the links towards them.
#include "collectives/cmpi/leaders.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace fairlead::collectives {
namespace {

/// Links towards the host only: "only inbound links are considered".
std::int64_t inbound_sum(const Hierarchy& hierarchy, std::size_t num_hosts, const Group& group,
                         std::int32_t host) {
  std::int64_t sum = 0;
  for (const std::int32_t other : group) {
    sum += hierarchy.level_of_pair[static_cast<std::size_t>(other) * num_hosts +
                                   static_cast<std::size_t>(host)];
  }
  return sum;
}

void put_leader_first(const Hierarchy& hierarchy, std::size_t num_hosts, std::int32_t root,
                      Group& group) {
  auto leader = std::find(group.begin(), group.end(), root);
  if (leader == group.end()) {
    leader =
        std::min_element(group.begin(), group.end(), [&](std::int32_t left, std::int32_t right) {
          return inbound_sum(hierarchy, num_hosts, group, left) <
                 inbound_sum(hierarchy, num_hosts, group, right);
        });
  }
  std::rotate(group.begin(), leader, leader + 1);
}

}  // namespace

std::vector<std::vector<Group>> groups_of_leaders(const Hierarchy& hierarchy,
                                                  std::int32_t num_hosts, std::int32_t root) {
  std::vector<std::vector<Group>> levels;
  std::vector<std::int32_t> leaders(static_cast<std::size_t>(num_hosts));
  std::iota(leaders.begin(), leaders.end(), 0);
  for (const auto& group_of_host : hierarchy.group_of_host) {
    std::map<std::int32_t, Group> groups;
    for (const std::int32_t host : leaders) {
      groups[group_of_host[static_cast<std::size_t>(host)]].push_back(host);
    }
    leaders.clear();
    std::vector<Group> level;
    for (auto& [number, group] : groups) {
      put_leader_first(hierarchy, static_cast<std::size_t>(num_hosts), root, group);
      leaders.push_back(group.front());
      if (group.size() > 1) level.push_back(std::move(group));
    }
    std::sort(leaders.begin(), leaders.end());
    if (!level.empty()) levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace fairlead::collectives
