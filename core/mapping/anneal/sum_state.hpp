// SPDX-License-Identifier: Apache-2.0
// The objective `sum` on a cost matrix, with the change of any swap in constant time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mapping/anneal/occupancy.hpp"
#include "mapping/anneal/task_graph.hpp"
#include "mapping/cost/host_costs.hpp"

namespace fairlead::optimizing {

/// A placement, and the cost of every task on every host if all others stay: `pull[task, host]`. A
/// swap changes only the rows of the neighbours, in O(degree * H). Most proposals are rejected, so
/// reading must be fast.
class SumState {
 public:
  SumState(const TaskGraph& graph, const HostCosts& costs, Occupancy occupancy);

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const Occupancy& occupancy() const { return occupancy_; }
  [[nodiscard]] std::span<const std::int32_t> near(std::int32_t host) const {
    return costs_.near(host);
  }

  /// The change of the objective when the two swap slots; exact if it is below `limit`.
  [[nodiscard]] float swap_change(std::int32_t task, std::int32_t occupant, float limit) const {
    const std::int32_t here = occupancy_.host_of(task), there = occupancy_.host_of(occupant);
    float change = pull(task)[there] - pull(task)[here];
    if (!occupancy_.is_task(occupant)) return change;
    change += pull(occupant)[here] - pull(occupant)[there];
    if (change >= limit && costs_.keeps_apart()) return change;
    // Each pull assumes that the other task stays; this corrects it if the two exchange messages.
    const float* from_here = costs_.from(here);
    const float* from_there = costs_.from(there);
    const float apart = from_here[there] + from_there[here] - from_here[here] - from_there[there];
    if (apart >= 0.0F && change >= limit) return change;
    return change + both(task, occupant) * apart;
  }

  void swap(std::int32_t task, std::int32_t occupant);

  /// The change when all occupants of two hosts with equal numbers of slots are swapped.
  [[nodiscard]] float swap_hosts_change(std::int32_t one, std::int32_t other) const;
  void swap_hosts(std::int32_t one, std::int32_t other);

 private:
  [[nodiscard]] const float* pull(std::int32_t task) const {
    return pull_.data() + static_cast<std::ptrdiff_t>(task) * costs_.num_hosts();
  }
  [[nodiscard]] float both(std::int32_t task, std::int32_t other) const;
  void fill_pull();
  void move_in_pulls(std::int32_t task, std::int32_t src, std::int32_t dst);

  const TaskGraph& graph_;
  const HostCosts& costs_;
  Occupancy occupancy_;
  bool is_symmetric_;                // costs or traffic: both directions are equal
  std::vector<float> pull_;          // (T, H)
  std::int64_t num_since_fill_ = 0;  // swaps since `pull_` was exact
  std::vector<float> both_;          // (T, T), for graphs small enough; else empty
  std::vector<float> out_change_;    // length H, of a step under way
  std::vector<float> in_change_;     // length H, of a step under way
};

}  // namespace fairlead::optimizing
