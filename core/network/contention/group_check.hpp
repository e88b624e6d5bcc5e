// SPDX-License-Identifier: Apache-2.0
// The final check of a group: rounds of flows alone and together, drawn from all its pairs.
#pragma once

#include <optional>

#include "network/contention/group_growth.hpp"

namespace fairlead {

/// Reports a group only if randomly drawn pairs are slower together in nearly every round and have
/// the same total rate each time. @return nothing otherwise.
std::optional<BottleneckGroup> check_group(const Sides& sides, double capacity_Bps,
                                           Sharing& sharing, FlowSteps& steps, RandomOrder& random);

}  // namespace fairlead
