// SPDX-License-Identifier: Apache-2.0
// Makes any placement fit the slots.
#pragma once

#include <cstdint>
#include <span>

#include "fairlead/matrices.hpp"
#include "mapping/scotch/rank_graph.hpp"

namespace fairlead {

/// Moves ranks from hosts that hold too many to hosts with room, the cheapest move first, until no
/// host holds more than its slots. A placement that fits is left as it is.
/// @pre number of ranks <= sum of slots
void repair_capacity(const RankGraph& graph, const HostMatrix& cost,
                     std::span<const std::int64_t> slots, std::span<std::int64_t> host_of_rank);

}  // namespace fairlead
