// SPDX-License-Identifier: Apache-2.0
// What reordering keeps in a process; written once, before the first use.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "reorder/plan.hpp"

namespace fairlead::intercept {

/// The plan, and the host of each process of MPI_COMM_WORLD.
struct ReorderState {
  ReorderPlan plan;
  std::vector<std::int32_t> host_of_world_rank;
  int world_rank = 0;
  /// Communicators in which a process got another rank, counted by the first of each.
  std::atomic<int> num_reordered{0};
};

/// The state of this process; never destroyed, and but for its count constant while ranks are
/// reordered.
[[nodiscard]] ReorderState& reorder_state();

}  // namespace fairlead::intercept
