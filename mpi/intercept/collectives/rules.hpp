// SPDX-License-Identifier: Apache-2.0
// Which collectives follow a schedule, and how it is planned. Pure: no MPI, no files (format:
// docs/reference/plan.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/drift_rule.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "plan/network_plan.hpp"

namespace fairlead::intercept {

/// Calls of one operation, of some sizes, by some communicators.
struct CollectiveRule {
  fairlead::collectives::Operation operation{};
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< included
  /// Ascending; the processes are on exactly these hosts. Empty: on any.
  std::vector<std::int32_t> hosts{};
  std::int32_t num_ranks = 0;  ///< of the communicator; 0: any
  std::string method{};
  /// None: the method was timed, and calls follow it from the first one on. Else it was only
  /// predicted: calls are the MPI's own until it is predicted to save this part of their time, and
  /// compared with it in turns.
  std::optional<double> least_saved_ratio{};

  /// @param on_hosts  those of the communicator, ascending
  [[nodiscard]] bool is_for(const std::vector<std::int32_t>& on_hosts,
                            std::size_t num_members) const {
    return (hosts.empty() || hosts == on_hosts) &&
           (num_ranks == 0 || static_cast<std::size_t>(num_ranks) == num_members);
  }

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
