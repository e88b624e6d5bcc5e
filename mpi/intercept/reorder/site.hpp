// SPDX-License-Identifier: Apache-2.0
// Where a program that reorders runs; written once, before the first use.
#pragma once

#include <cstdint>
#include <vector>

#include "reorder/plan.hpp"

namespace fairlead::intercept {

/// The plan, and the host of each process of MPI_COMM_WORLD.
struct Site {
  ReorderPlan plan;
  std::vector<std::int32_t> host_of_world_rank;
};

/// The site of this program; never destroyed, and constant while ranks are reordered.
[[nodiscard]] Site& site();

}  // namespace fairlead::intercept
