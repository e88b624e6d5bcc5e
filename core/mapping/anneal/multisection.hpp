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

/// As little traffic as can be found between the groups of the highest level, then inside each of
/// them between those of the next, down to the hosts. Slots that are not needed are those of the
/// last groups: fewer groups, less between them.
/// @param slots  of each host, >= 0; the tasks fit
/// @param groupings  of the hosts, of these groups, ...; may be empty
/// @param num_tries  of each cut, of which the best is kept
/// @param stop,end_s  when it has to end; the result is empty where it did not come to its end
///
/// Source: Schulz, Woydt 2025, Shared-memory hierarchical process mapping (hierarchical
/// multisection).
[[nodiscard]] HostOfTask multisection(const TaskGraph& graph, const SlotsOfHost& slots,
                                      std::span<const HostGrouping> groupings, int num_tries,
                                      Random random, const StopCriterion& stop, double end_s);

}  // namespace fairlead::optimizing
