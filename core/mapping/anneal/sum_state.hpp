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

/// A placement, and for every task what it would cost on every host, all others staying:
/// `pull[task, host]`. A swap changes the rows of the neighbours only, in O(degree * H), and most
/// proposals are refused, so reading is what has to be fast.
class SumState {
 public:
  SumState(const TaskGraph& graph, const HostCosts& costs, Occupancy occupancy);

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const Occupancy& occupancy() const { return occupancy_; }
  [[nodiscard]] std::span<const std::int32_t> near(std::int32_t host) const {
    return costs_.near(host);
  }

  /// What the objective gains or loses when the two swap slots; exact where it is below `limit`.
  [[nodiscard]] float swap_change(std::int32_t task, std::int32_t occupant, float limit) const {
    const std::int32_t here = occupancy_.host_of(task), there = occupancy_.host_of(occupant);
    float change = pull(task)[there] - pull(task)[here];
    if (!occupancy_.is_task(occupant)) return change;
    change += pull(occupant)[here] - pull(occupant)[there];
    if (change >= limit && costs_.keeps_apart()) return change;
    // Each pull takes the other as staying; where the two exchange messages, that is put right.
    const float* from_here = costs_.from(here);
    const float* from_there = costs_.from(there);
    const float apart = from_here[there] + from_there[here] - from_here[here] - from_there[there];
    if (apart >= 0.0F && change >= limit) return change;
    return change + both(task, occupant) * apart;
  }

  void swap(std::int32_t task, std::int32_t occupant);

  /// The change when all occupants of two hosts with as many slots are swapped.
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
  bool is_symmetric_;                // costs or traffic: one direction tells the other
  std::vector<float> pull_;          // (T, H)
  std::int64_t num_since_fill_ = 0;  // swaps since `pull_` was exact
  std::vector<float> both_;          // (T, T), for graphs small enough; else empty
  std::vector<float> out_change_;    // length H, of a step under way
  std::vector<float> in_change_;     // length H, of a step under way
};

}  // namespace fairlead::optimizing
