// SPDX-License-Identifier: Apache-2.0
// The capacity of each host's interface: one host to many, many to one.
#pragma once

#include <span>
#include <vector>

#include "network/contention/flow_steps.hpp"
#include "network/contention/random_order.hpp"

namespace fairlead {

enum class Direction { out, in };

/// The highest rate at which one host sends or receives, with more and more partners until more do
/// not help. Partners behind none of the bottlenecks come first.
/// @return nan where no partner answered.
double nic_capacity_Bps(int host, Direction direction, int num_hosts, int max_flows,
                        std::span<const BottleneckGroup> groups, FlowSteps& steps,
                        RandomOrder& random);

}  // namespace fairlead
