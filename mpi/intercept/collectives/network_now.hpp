// SPDX-License-Identifier: Apache-2.0
// The plan's network as it is now, after some of its pairs were measured again. Pure: no MPI.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/probed_pairs.hpp"
#include "plan/network_plan.hpp"

namespace fairlead::intercept {

/// The network with what was measured again. NICs and groups change as the median of their pairs
/// does: a ping-pong of single pairs does not see them.
/// @param hosts  of the network, ascending; those of `probed` in its order
[[nodiscard]] NetworkPlan updated(NetworkPlan network, std::span<const std::int32_t> hosts,
                                  const ProbedPairs& probed);

}  // namespace fairlead::intercept
