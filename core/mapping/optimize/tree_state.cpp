// SPDX-License-Identifier: Apache-2.0
// The objective `sum` on a tree of hosts. A tree's costs are symmetric, and equal inside all hosts.
#include "mapping/optimize/tree_state.hpp"

#include <algorithm>
#include <numeric>

namespace fairlead::optimizing {

TreeCosts::TreeCosts(const HostTree& tree)
    : num_hosts_(static_cast<std::int32_t>(tree.num_hosts)),
      num_levels_(tree.group_of_host.size() / tree.num_hosts),
      scale_(1.0 / tree.cost_of_level.back()),
      group_of_host_(tree.group_of_host.begin(), tree.group_of_host.end()),
      order_(tree.num_hosts),
      first_near_(tree.num_hosts),
      end_near_(tree.num_hosts) {
  for (const double cost : tree.cost_of_level) {
    cost_of_level_.push_back(static_cast<float>(cost * scale_));
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

float TreeState::swap_change(std::int32_t task, std::int32_t sitter, float /*limit*/) const {
  const std::int32_t here = seating_.host_of(task), there = seating_.host_of(sitter);
  float change = 0.0F;
  const auto add_moved = [&](std::int32_t mover, std::int32_t other, std::int32_t src,
                             std::int32_t dst) {
    for (const Exchange& exchange : graph_.of(mover)) {
      if (exchange.peer == other) continue;  // as far from each other as before
      const std::int32_t at = seating_.host_of(exchange.peer);
      change += exchange.both() * (costs_(dst, at) - costs_(src, at));
    }
  };
  add_moved(task, sitter, here, there);
  if (seating_.is_task(sitter)) add_moved(sitter, task, there, here);
  return change;
}

float TreeState::swap_hosts_change(std::int32_t one, std::int32_t other) const {
  float change = 0.0F;
  for (const std::int32_t host : {one, other}) {
    const std::int32_t there = host == one ? other : one;
    for (const std::int32_t sitter : seating_.sitters(host)) {
      if (!seating_.is_task(sitter)) continue;
      for (const Exchange& exchange : graph_.of(sitter)) {
        const std::int32_t at = seating_.host_of(exchange.peer);
        if (at == one || at == other) continue;
        change += exchange.both() * (costs_(there, at) - costs_(host, at));
      }
    }
  }
  return change;
}

void TreeState::swap_hosts(std::int32_t one, std::int32_t other) {
  for (std::size_t slot = 0; slot < seating_.sitters(one).size(); ++slot) {
    seating_.swap(seating_.sitters(one)[slot], seating_.sitters(other)[slot]);
  }
}

}  // namespace fairlead::optimizing
