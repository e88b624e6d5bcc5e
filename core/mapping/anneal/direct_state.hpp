// SPDX-License-Identifier: Apache-2.0
// The objective `sum` without a table of tasks and hosts: for few partners, or very many hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "mapping/anneal/host_swap.hpp"
#include "mapping/anneal/seating.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

/// A placement whose changes are summed over the partners anew each time. A step costs nothing, so
/// it is ahead of a table where most proposals are accepted or where the table is in no cache.
/// @tparam Costs  between hosts: `costs(src, dst)`, `is_symmetric()`, `near(host)`
template <typename Costs>
class DirectState {
 public:
  DirectState(const TaskGraph& graph, const Costs& costs, Seating seating)
      : graph_(graph), costs_(costs), seating_(std::move(seating)) {}

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const Seating& seating() const { return seating_; }
  [[nodiscard]] std::span<const std::int32_t> near(std::int32_t host) const {
    return costs_.near(host);
  }

  /// What the objective gains or loses when the two swap seats.
  [[nodiscard]] float swap_change(std::int32_t task, std::int32_t sitter, float /*limit*/) const {
    const std::int32_t here = seating_.host_of(task), there = seating_.host_of(sitter);
    float change = moved(task, sitter, here, there);
    if (!seating_.is_task(sitter)) return change;
    return change + moved(sitter, task, there, here) + between(task, sitter, here, there);
  }
  void swap(std::int32_t task, std::int32_t sitter) { seating_.swap(task, sitter); }

  /// What changes when all that sit on two hosts of as many slots change places.
  [[nodiscard]] float swap_hosts_change(std::int32_t one, std::int32_t other) const {
    return host_swap_change(graph_, costs_, seating_, one, other);
  }
  void swap_hosts(std::int32_t one, std::int32_t other) {
    for (std::size_t slot = 0; slot < seating_.sitters(one).size(); ++slot) {
      seating_.swap(seating_.sitters(one)[slot], seating_.sitters(other)[slot]);
    }
  }

 private:
  /// What the mover gains or loses with all partners but `other`.
  [[nodiscard]] float moved(std::int32_t mover, std::int32_t other, std::int32_t src,
                            std::int32_t dst) const {
    float change = graph_.to_itself(mover) * (costs_(dst, dst) - costs_(src, src));
    for (const Exchange& exchange : graph_.of(mover)) {
      if (exchange.peer == other) continue;
      const std::int32_t at = seating_.host_of(exchange.peer);
      if (costs_.is_symmetric()) {
        change += exchange.both() * (costs_(dst, at) - costs_(src, at));
      } else {
        change += exchange.out * (costs_(dst, at) - costs_(src, at)) +
                  exchange.in * (costs_(at, dst) - costs_(at, src));
      }
    }
    return change;
  }
  /// What the two gain or lose with one another.
  [[nodiscard]] float between(std::int32_t task, std::int32_t sitter, std::int32_t here,
                              std::int32_t there) const {
    if (costs_.is_symmetric()) return 0.0F;
    for (const Exchange& exchange : graph_.of(task)) {
      if (exchange.peer == sitter) {
        return (exchange.out - exchange.in) * (costs_(there, here) - costs_(here, there));
      }
    }
    return 0.0F;
  }

  const TaskGraph& graph_;
  const Costs& costs_;
  Seating seating_;
};

}  // namespace fairlead::optimizing
