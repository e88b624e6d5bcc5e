// SPDX-License-Identifier: Apache-2.0
// The objective `sum` on a cost matrix.
#include "mapping/anneal/sum_state.hpp"

#include <algorithm>
#include <utility>

#include "mapping/anneal/host_swap.hpp"

namespace fairlead::optimizing {
namespace {

// Up to here a table of all pairs fits the second-level cache of common machines.
constexpr std::int32_t kMostTasksForTable = 1024;
// After this many swaps of each task, rounding errors of single precision would affect small
// changes. Filling the table again takes as long as half as many swaps as there are tasks.
constexpr std::int64_t kSwapsPerTaskBetweenFills = 64;

}  // namespace

SumState::SumState(const TaskGraph& graph, const HostCosts& costs, Occupancy occupancy)
    : graph_(graph),
      costs_(costs),
      occupancy_(std::move(occupancy)),
      is_symmetric_(costs.is_symmetric() || graph.is_symmetric()),
      out_change_(static_cast<std::size_t>(costs.num_hosts())),
      in_change_(static_cast<std::size_t>(costs.num_hosts())) {
  const std::int32_t num_tasks = graph.num_tasks();
  if (num_tasks <= kMostTasksForTable) {
    both_.assign(static_cast<std::size_t>(num_tasks) * static_cast<std::size_t>(num_tasks), 0.0F);
    for (std::int32_t task = 0; task < num_tasks; ++task) {
      for (const Exchange& exchange : graph.of(task)) {
        both_[static_cast<std::size_t>(task * num_tasks + exchange.peer)] = exchange.both();
      }
    }
  }
  fill_pull();
}

void SumState::fill_pull() {
  const std::int32_t num_hosts = costs_.num_hosts();
  num_since_fill_ = 0;
  pull_.assign(static_cast<std::size_t>(graph_.num_tasks()) * static_cast<std::size_t>(num_hosts),
               0.0F);
  for (std::int32_t task = 0; task < graph_.num_tasks(); ++task) {
    float* row = pull_.data() + static_cast<std::ptrdiff_t>(task) * num_hosts;
    for (const Exchange& exchange : graph_.of(task)) {
      const std::int32_t host = occupancy_.host_of(exchange.peer);
      const float* to = costs_.to(host);
      const float* from = costs_.from(host);
      for (std::int32_t at = 0; at < num_hosts; ++at) {
        row[at] += exchange.out * to[at] + exchange.in * from[at];
      }
    }
    for (std::int32_t at = 0; at < num_hosts; ++at) {
      row[at] += graph_.to_itself(task) * costs_.from(at)[at];
    }
  }
}

float SumState::both(std::int32_t task, std::int32_t other) const {
  if (!both_.empty()) {
    return both_[static_cast<std::size_t>(task * graph_.num_tasks() + other)];
  }
  const auto row = graph_.of(task);
  const auto found = std::ranges::lower_bound(row, other, {}, &Exchange::peer);
  return found != row.end() && found->peer == other ? found->both() : 0.0F;
}

void SumState::swap(std::int32_t task, std::int32_t occupant) {
  const std::int32_t here = occupancy_.host_of(task), there = occupancy_.host_of(occupant);
  move_in_pulls(task, here, there);
  if (occupancy_.is_task(occupant)) move_in_pulls(occupant, there, here);
  occupancy_.swap(task, occupant);
  if (++num_since_fill_ >= kSwapsPerTaskBetweenFills * graph_.num_tasks()) fill_pull();
}

void SumState::move_in_pulls(std::int32_t task, std::int32_t src, std::int32_t dst) {
  const std::int32_t num_hosts = costs_.num_hosts();
  const float* from_dst = costs_.from(dst);
  const float* from_src = costs_.from(src);
  float* in_change = in_change_.data();
  for (std::int32_t at = 0; at < num_hosts; ++at) in_change[at] = from_dst[at] - from_src[at];
  if (is_symmetric_ && costs_.is_symmetric()) {
    for (const Exchange& exchange : graph_.of(task)) {
      float* row = pull_.data() + static_cast<std::ptrdiff_t>(exchange.peer) * num_hosts;
      const float amount = exchange.both();
      for (std::int32_t at = 0; at < num_hosts; ++at) row[at] += amount * in_change[at];
    }
    return;
  }
  const float* to_dst = costs_.to(dst);
  const float* to_src = costs_.to(src);
  float* out_change = out_change_.data();
  for (std::int32_t at = 0; at < num_hosts; ++at) out_change[at] = to_dst[at] - to_src[at];
  for (const Exchange& exchange : graph_.of(task)) {
    float* row = pull_.data() + static_cast<std::ptrdiff_t>(exchange.peer) * num_hosts;
    // The task's sends are the peer's receives.
    for (std::int32_t at = 0; at < num_hosts; ++at) {
      row[at] += exchange.out * in_change[at] + exchange.in * out_change[at];
    }
  }
}

float SumState::swap_hosts_change(std::int32_t one, std::int32_t other) const {
  return host_swap_change(graph_, costs_, occupancy_, one, other);
}

void SumState::swap_hosts(std::int32_t one, std::int32_t other) {
  for (std::size_t slot = 0; slot < occupancy_.occupants(one).size(); ++slot) {
    const std::int32_t first = occupancy_.occupants(one)[slot];
    const std::int32_t second = occupancy_.occupants(other)[slot];
    if (occupancy_.is_task(first)) {
      swap(first, second);
    } else if (occupancy_.is_task(second)) {
      swap(second, first);
    }
  }
}

}  // namespace fairlead::optimizing
