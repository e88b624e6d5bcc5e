// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithm 3: who calls the MPI's own bcast or reduce with whom, level by level.
#pragma once

#include <cstdint>
#include <vector>

#include "fairlead/collectives/hierarchy.hpp"
#include "fairlead/collectives/schedule.hpp"

namespace fairlead::collectives {

/// On each level, lowest first, the groups of those that lead a group of the level below, their
/// leader first. The root leads wherever it is a member; elsewhere the host with the least sum of
/// M[other, host] leads, the first of several. Groups of one are left out.
/// Source: CMPI, section 4.3, Algorithm 3.
[[nodiscard]] std::vector<std::vector<Group>> groups_of_leaders(const Hierarchy& hierarchy,
                                                                std::int32_t num_hosts,
                                                                std::int32_t root);

}  // namespace fairlead::collectives
