// SPDX-License-Identifier: Apache-2.0
// The levels of a tree as machines of their own.
#include "mapping/anneal/tree_levels.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace fairlead::optimizing {

TreeLevels::TreeLevels(const HostTree& tree) {
  std::vector<std::int64_t> group_of_host(tree.group_of_host.begin(), tree.group_of_host.end());
  std::vector<double> cost_of_level(tree.cost_of_level.begin(), tree.cost_of_level.end());
  std::size_t num_hosts = tree.num_hosts;
  for (;;) {
    costs.emplace_back(HostTree{
        .num_hosts = num_hosts, .group_of_host = group_of_host, .cost_of_level = cost_of_level});
    if (group_of_host.empty()) return;
    HostGrouping grouping;
    std::map<std::int64_t, std::int32_t> number_of_group;
    for (std::size_t host = 0; host < num_hosts; ++host) {
      const auto [entry, is_new] =
          number_of_group.try_emplace(group_of_host[host], grouping.num_groups);
      if (is_new) ++grouping.num_groups;
      grouping.group_of_host.push_back(entry->second);
    }
    const auto num_groups = static_cast<std::size_t>(grouping.num_groups);
    const std::size_t num_levels = group_of_host.size() / num_hosts - 1;
    std::vector<std::int64_t> upper(num_levels * num_groups);
    for (std::size_t level = 0; level < num_levels; ++level) {
      for (std::size_t host = 0; host < num_hosts; ++host) {
        upper[level * num_groups + static_cast<std::size_t>(grouping.group_of_host[host])] =
            group_of_host[(level + 1) * num_hosts + host];
      }
    }
    group_of_host = std::move(upper);
    cost_of_level.erase(cost_of_level.begin());
    num_hosts = num_groups;
    groupings.push_back(std::move(grouping));
  }
}

}  // namespace fairlead::optimizing
