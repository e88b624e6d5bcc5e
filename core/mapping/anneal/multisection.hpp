// SPDX-License-Identifier: Apache-2.0
// A placement by cutting the tasks along the groups of hosts: into pods, these into racks, ...
#pragma once

#include <cstdint>
#include <span>

#include "base/random.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/anneal/stop_criterion.hpp"
#include "mapping/anneal/task_graph.hpp"

namespace fairlead::optimizing {

/// Minimises the traffic between the groups of the highest level, then inside each of them that
/// between the groups of the next level, down to the hosts. Free slots are in the last groups:
/// fewer groups have less traffic between them.
/// @param slots  of each host, >= 0; the tasks fit
/// @param groupings  of the hosts, of these groups, ...; may be empty
/// @param num_tries  of each cut, of which the best is kept
/// @param stop,end_s  when it has to end; the result is empty if it was not finished
///
/// Source: Schulz, Woydt 2025, Shared-memory hierarchical process mapping (hierarchical
/// multisection).
[[nodiscard]] HostOfTask multisection(const TaskGraph& graph, const SlotsOfHost& slots,
                                      std::span<const HostGrouping> groupings, int num_tries,
                                      Random random, const StopCriterion& stop, double end_s);

}  // namespace fairlead::optimizing
