// SPDX-License-Identifier: Apache-2.0
// The change of the objective `sum` when two whole hosts are swapped.
#pragma once

#include <cstdint>

#include "mapping/anneal/occupancy.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

/// For two hosts with equal numbers of slots. In O(exchanges of all occupants): it is proposed too
/// rarely for a table.
/// @param costs  between hosts: `costs(src, dst)`
template <typename Costs>
[[nodiscard]] float host_swap_change(const TaskGraph& graph, const Costs& costs,
                                     const Occupancy& occupancy, std::int32_t one,
                                     std::int32_t other) {
  const auto moved_to = [one, other](std::int32_t host) {
    return host == one ? other : host == other ? one : host;
  };
  float twice_inside = 0.0F, across = 0.0F;
  for (const std::int32_t host : {one, other}) {
    const std::int32_t there = moved_to(host);
    for (const std::int32_t occupant : occupancy.occupants(host)) {
      if (!occupancy.is_task(occupant)) continue;
      across += graph.to_itself(occupant) * (costs(there, there) - costs(host, host));
      for (const Exchange& exchange : graph.of(occupant)) {
        const std::int32_t at = occupancy.host_of(exchange.peer), then = moved_to(at);
        const float change = exchange.out * (costs(there, then) - costs(host, at)) +
                             exchange.in * (costs(then, there) - costs(at, host));
        (at == one || at == other ? twice_inside : across) += change;
      }
    }
  }
  return across + twice_inside / 2;
}

}  // namespace fairlead::optimizing
