// SPDX-License-Identifier: Apache-2.0
// Assigns the roles of a communication graph to running processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// Role `src` sends to role `dst`, as much as `weight` says. Several edges of a pair add up.
struct RoleEdge {
  std::int32_t src;
  std::int32_t dst;
  std::int32_t weight;  ///< >= 0
};

struct RoleOptions {
  std::uint64_t seed = 0;
  /// Bound on the work, counted in proposals of a swap, so that the result does not depend on the
  /// machine's speed; 4 million take some tenths of a second. With few roles, or a table larger
  /// than the caches, the number is smaller.
  std::int64_t max_proposals = 4'000'000;
  /// Bound on the memory: entries of the table of roles times hosts, four bytes each. If it would
  /// be larger, the roles stay.
  std::size_t max_entries = std::size_t{1} << 27;
  /// With a smaller gain the roles stay: measured bandwidths are no more exact than this, and a
  /// program whose rank changes has to move data.
  double min_gain_ratio = 0.01;
};

/// Which role each process takes.
struct RolePlacement {
  std::vector<std::int32_t> role_of_process;  ///< a permutation of 0 .. P - 1
  double cost = 0.0;
  double identity_cost = 0.0;  ///< with role p on process p; `cost` is never larger

  [[nodiscard]] bool is_identity() const;
};

/// Finds roles for P processes that make the sum over edges of weight * cost[host of src, host of
/// dst] small. Each host gets as many roles as it has processes; roles without edges fill the rest.
/// The same arguments give the same result.
/// @param edges  roles in [0, P)
/// @param cost  (H, H), of weight 1; finite, >= 0
/// @param host_of_process  length P, each in [0, H)
[[nodiscard]] RolePlacement place_roles(std::span<const RoleEdge> edges, const HostMatrix& cost,
                                        std::span<const std::int32_t> host_of_process,
                                        const RoleOptions& options = {});

}  // namespace fairlead
