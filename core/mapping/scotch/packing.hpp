// SPDX-License-Identifier: Apache-2.0
// Chooses few hosts that are near one another, for jobs smaller than the cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// Slots of each host for a packed placement: some hosts keep all their slots, one gets the
/// remaining ranks, the others none. Groups grow from each host by the nearest next one; of those
/// with the fewest hosts, the group with the lowest mean cost is used. O(H^2 * hosts used).
/// @pre num_ranks <= sum of slots
[[nodiscard]] std::vector<std::int64_t> packed_slots(const HostMatrix& cost,
                                                     std::span<const std::int64_t> slots,
                                                     std::int64_t num_ranks);

}  // namespace fairlead
