// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithm 4: the tree along which blocks are gathered or scattered.
#pragma once

#include <cstdint>

#include "fairlead/collectives/hierarchy.hpp"
#include "fairlead/collectives/schedule.hpp"

namespace fairlead::collectives {

/// @param is_upwards  gather: a link counts from the child to the parent; else from the parent
/// Source: CMPI, section 4.3, Algorithm 4.
[[nodiscard]] ParentOfHost gather_tree(const Hierarchy& hierarchy, std::int32_t num_hosts,
                                       std::int32_t root, bool is_upwards);

}  // namespace fairlead::collectives
