// SPDX-License-Identifier: Apache-2.0
// Which collectives follow a schedule, and how it is planned. Pure: no MPI, no files (format:
// docs/reference/plan.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/drift_rule.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "plan/network_plan.hpp"

namespace fairlead::intercept {

/// Calls of one operation, of some sizes, between the processes of some hosts.
struct CollectiveRule {
  fairlead::collectives::Operation operation{};
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< included
  /// Ascending; the processes are on exactly these hosts. Empty: on any.
  std::vector<std::int32_t> hosts{};
  std::string method{};

  [[nodiscard]] bool covers(fairlead::collectives::Operation of, std::uint64_t bytes) const {
    return of == operation && min_bytes <= bytes && bytes <= max_bytes;
  }
};

struct CollectivesPlan {
  NetworkPlan network{};
  /// Never planned anew while the program runs.
  bool is_reproducible = false;
  DriftRule drift{};  ///< off where it is reproducible
  std::vector<CollectiveRule> rules{};
};

/// Reads the plan's network and `collectives.json`.
/// @param num_ranks  of the program
/// @throws InputError "FILE: FIELD: ..." for the first thing that is wrong
[[nodiscard]] CollectivesPlan parse_collectives_plan(const PlanFile& network,
                                                     const PlanFile& collectives, int num_ranks);

}  // namespace fairlead::intercept
