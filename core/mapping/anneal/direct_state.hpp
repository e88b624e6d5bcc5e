// SPDX-License-Identifier: Apache-2.0
// The objective `sum` without a table of tasks and hosts: for few partners, or very many hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "mapping/anneal/host_swap.hpp"
#include "mapping/anneal/occupancy.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

/// A placement whose changes are summed over the partners each time. An accepted step costs
/// nothing, so this is faster than a table if most proposals are accepted or if the table does not
/// fit into a cache.
/// @tparam Costs  between hosts: `costs(src, dst)`, `is_symmetric()`, `near(host)`
template <typename Costs>
class DirectState {
 public:
  DirectState(const TaskGraph& graph, const Costs& costs, Occupancy occupancy)
      : graph_(graph), costs_(costs), occupancy_(std::move(occupancy)) {}

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const Occupancy& occupancy() const { return occupancy_; }
  [[nodiscard]] std::span<const std::int32_t> near(std::int32_t host) const {
    return costs_.near(host);
  }

  /// The change of the objective when the two swap slots.
  [[nodiscard]] float swap_change(std::int32_t task, std::int32_t occupant, float /*limit*/) const {
    const std::int32_t here = occupancy_.host_of(task), there = occupancy_.host_of(occupant);
    float change = moved(task, occupant, here, there);
    if (!occupancy_.is_task(occupant)) return change;
    return change + moved(occupant, task, there, here) + between(task, occupant, here, there);
  }
  void swap(std::int32_t task, std::int32_t occupant) { occupancy_.swap(task, occupant); }

  /// The change when all occupants of two hosts with equal numbers of slots are swapped.
  [[nodiscard]] float swap_hosts_change(std::int32_t one, std::int32_t other) const {
    return host_swap_change(graph_, costs_, occupancy_, one, other);
  }
  void swap_hosts(std::int32_t one, std::int32_t other) {
    for (std::size_t slot = 0; slot < occupancy_.occupants(one).size(); ++slot) {
      occupancy_.swap(occupancy_.occupants(one)[slot], occupancy_.occupants(other)[slot]);
    }
  }

 private:
  /// The change of the mover's cost with all partners but `other`.
  [[nodiscard]] float moved(std::int32_t mover, std::int32_t other, std::int32_t src,
                            std::int32_t dst) const {
    float change = graph_.to_itself(mover) * (costs_(dst, dst) - costs_(src, src));
    for (const Exchange& exchange : graph_.of(mover)) {
      if (exchange.peer == other) continue;
      const std::int32_t at = occupancy_.host_of(exchange.peer);
      if (costs_.is_symmetric()) {
        change += exchange.both() * (costs_(dst, at) - costs_(src, at));
      } else {
        change += exchange.out * (costs_(dst, at) - costs_(src, at)) +
                  exchange.in * (costs_(at, dst) - costs_(at, src));
      }
    }
    return change;
  }
  /// The change of the cost between the two.
  [[nodiscard]] float between(std::int32_t task, std::int32_t occupant, std::int32_t here,
                              std::int32_t there) const {
    if (costs_.is_symmetric()) return 0.0F;
    for (const Exchange& exchange : graph_.of(task)) {
      if (exchange.peer == occupant) {
        return (exchange.out - exchange.in) * (costs_(there, here) - costs_(here, there));
      }
    }
    return 0.0F;
  }

  const TaskGraph& graph_;
  const Costs& costs_;
  Occupancy occupancy_;
};

}  // namespace fairlead::optimizing
