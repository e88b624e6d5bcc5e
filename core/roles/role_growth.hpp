// SPDX-License-Identifier: Apache-2.0
// A first placement that fills host after host with roles that belong together.
#pragma once

#include "role_graph.hpp"

namespace fairlead {

/// Fills the hosts one after the other, each time the one that is nearest to those filled, with the
/// roles that exchange most with what the host already holds.
/// @param num_slots  roles per host, length H, summing to the number of roles
[[nodiscard]] HostOfRole grow_roles(const RoleGraph& graph, const HostMatrix& cost,
                                    const std::vector<Index>& num_slots);

}  // namespace fairlead
