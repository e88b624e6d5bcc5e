// SPDX-License-Identifier: Apache-2.0
// The last word on a group: rounds of flows alone and together, drawn from all its pairs.
#pragma once

#include <optional>

#include "network/contention/group_growth.hpp"

namespace fairlead {

/// Claims a group only where its pairs, drawn at random, are slower together in nearly every round
/// and carry the same together each time.
/// @return nothing where they do not.
std::optional<BottleneckGroup> check_group(const Sides& sides, double capacity_Bps,
                                           Sharing& sharing, FlowSteps& steps, RandomOrder& random);

}  // namespace fairlead
