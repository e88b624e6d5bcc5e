// SPDX-License-Identifier: Apache-2.0
// What no algorithm can beat.
#pragma once

#include "collectives/links.hpp"
#include "fairlead/collectives/planning.hpp"

namespace fairlead::collectives {

[[nodiscard]] double lower_bound_s(const Links& links, const Request& request);

/// The rate at which a message can at most flow from the root to all hosts (bcast), back (reduce),
/// or both at once (allreduce): what its NICs carry.
[[nodiscard]] double largest_message_Bps(const Links& links, Operation operation,
                                         std::int32_t root);

}  // namespace fairlead::collectives
