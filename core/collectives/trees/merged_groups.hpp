// SPDX-License-Identifier: Apache-2.0
// Nested groups of near hosts, by merging groups whose pairs are about equally fast.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/links.hpp"

namespace fairlead::collectives {

struct GroupsOfHosts {
  /// Group of each host on each level, lowest level first; the last level is one group.
  std::vector<std::vector<std::int32_t>> group_of_host;
  std::vector<double> transfer_s;  ///< (H, H), diagonal 0
};

/// Where pairs share a bottleneck, each is taken as it is while all hosts that send through it do.
[[nodiscard]] GroupsOfHosts merge_near_hosts(const Links& links, double message_bytes);

}  // namespace fairlead::collectives
