// SPDX-License-Identifier: Apache-2.0
// What the objective `sum` gains or loses when two whole hosts change places.
#pragma once

#include <cstdint>

#include "mapping/anneal/occupancy.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

/// Of two hosts with as many slots. In O(exchanges of all occupants): it is proposed so seldom that
/// no table is kept for it.
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
