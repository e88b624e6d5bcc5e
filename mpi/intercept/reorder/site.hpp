// SPDX-License-Identifier: Apache-2.0
// Where a program that reorders runs; written once, before the first use.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "reorder/plan.hpp"

namespace fairlead::intercept {

/// The plan, and the host of each process of MPI_COMM_WORLD.
struct Site {
  ReorderPlan plan;
  std::vector<std::int32_t> host_of_world_rank;
  int world_rank = 0;
  /// Communicators in which a process got another rank, counted by the first of each.
  std::atomic<int> num_reordered{0};
};

/// The site of this program; never destroyed, and but for its count constant while ranks are
/// reordered.
[[nodiscard]] Site& site();

}  // namespace fairlead::intercept
