// SPDX-License-Identifier: Apache-2.0
// What placing ranks takes from the plan: the cost of a message between two hosts. Pure: no MPI, no
// files (format: docs/reference/plan.md).
#pragma once

#include <cstddef>
#include <vector>

#include "fairlead/matrices.hpp"
#include "plan/network_plan.hpp"

namespace fairlead::intercept {

/// Hosts by name, and the cost of a message between them.
struct ReorderPlan {
  NetworkPlan network;
  /// Seconds of one message of the plan's size, (H, H), rows first, [src, dst].
  std::vector<double> message_s;

  [[nodiscard]] std::size_t num_hosts() const { return network.num_hosts(); }
  [[nodiscard]] HostMatrix cost() const { return {num_hosts(), message_s}; }
};

/// Reads `network.json` and `reorder.json`.
/// @throws InputError "FILE: FIELD: ..." for the first thing that is wrong
[[nodiscard]] ReorderPlan parse_reorder_plan(const PlanFile& network, const PlanFile& reorder);

}  // namespace fairlead::intercept
