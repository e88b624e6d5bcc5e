// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithm 2: the groups of one level of the hierarchy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::collectives {

/// Hosts in ascending order.
using Members = std::vector<std::size_t>;

/// Groups of hosts, at most half as many as `below`, in ascending order of their first hosts.
/// The paper leaves open in which order hosts are added (here: group by group of `below`), which of
/// equally large groups is taken (here: the first), and which host moves where the span is too
/// large (here: the one that is closest to the smallest group, the first of several). A span of 1
/// is never reduced, since then the hosts cannot be divided more evenly.
/// @param level_of_pair  M, discretised, (H, H)
/// @param below  groups of the level below, at least two
/// @param max_span  T_span, >= 0
/// Source: CMPI, section 4.2, Algorithm 2.
[[nodiscard]] std::vector<Members> group_hosts(std::span<const std::int32_t> level_of_pair,
                                               const std::vector<Members>& below,
                                               std::int32_t max_span);

}  // namespace fairlead::collectives
