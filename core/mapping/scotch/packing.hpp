// SPDX-License-Identifier: Apache-2.0
// Chooses few hosts that are near one another, for jobs smaller than the cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// Slots of each host for a packed placement: some hosts keep all they have, one what is left of
/// the ranks, the others nothing. Grown from each host in turn by the nearest next one; the group
/// with the lowest mean cost among those with the fewest hosts is taken. O(H^2 * hosts taken).
/// @pre num_ranks <= sum of slots
[[nodiscard]] std::vector<std::int64_t> packed_slots(const HostMatrix& cost,
                                                     std::span<const std::int64_t> slots,
                                                     std::int64_t num_ranks);

}  // namespace fairlead
