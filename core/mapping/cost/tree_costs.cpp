// SPDX-License-Identifier: Apache-2.0
// Costs on a tree of hosts. They are symmetric, and equal inside all hosts.
#include "mapping/cost/tree_costs.hpp"

#include <algorithm>
#include <numeric>

namespace fairlead::optimizing {

TreeCosts::TreeCosts(const HostTree& tree)
    : num_hosts_(static_cast<std::int32_t>(tree.num_hosts)),
      num_levels_(tree.group_of_host.size() / tree.num_hosts),
      group_of_host_(tree.group_of_host.begin(), tree.group_of_host.end()),
      order_(tree.num_hosts),
      first_near_(tree.num_hosts),
      end_near_(tree.num_hosts) {
  for (const double cost : tree.cost_of_level) {
    cost_of_level_.push_back(static_cast<float>(cost / tree.cost_of_level.back()));
  }
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, [this](std::int32_t left, std::int32_t right) {
    for (std::size_t level = num_levels_; level-- > 0;) {
      if (group(level, left) != group(level, right)) {
        return group(level, left) < group(level, right);
      }
    }
    return false;
  });
  for (std::int32_t first = 0; first < num_hosts_;) {
    std::int32_t end = first + 1;
    const auto host = [this](std::int32_t place) {
      return order_[static_cast<std::size_t>(place)];
    };
    while (end < num_hosts_ && num_levels_ > 0 && group(0, host(end)) == group(0, host(first))) {
      ++end;
    }
    for (std::int32_t place = first; place < end; ++place) {
      first_near_[static_cast<std::size_t>(host(place))] = first;
      end_near_[static_cast<std::size_t>(host(place))] = end;
    }
    first = end;
  }
}

std::span<const std::int32_t> TreeCosts::near(std::int32_t host) const {
  const auto first = static_cast<std::size_t>(first_near_[static_cast<std::size_t>(host)]);
  const auto end = static_cast<std::size_t>(end_near_[static_cast<std::size_t>(host)]);
  return std::span(order_).subspan(first, end - first);
}

}  // namespace fairlead::optimizing
