// SPDX-License-Identifier: Apache-2.0
// Resolves the capacities of a measured network.
#include "collectives/links.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fairlead/error.hpp"

namespace fairlead::collectives {

Links::Links(const MeasuredNetwork& network)
    : network_(network),
      out_Bps_(sending_capacities_Bps(network)),
      in_Bps_(receiving_capacities_Bps(network)),
      alone_Bps_(network.bandwidth_Bps.values.begin(), network.bandwidth_Bps.values.end()) {
  const std::size_t hosts = num_hosts();
  for (std::size_t src = 0; src < hosts; ++src) {
    for (std::size_t dst = 0; dst < hosts; ++dst) {
      if (src == dst) continue;
      double& alone_Bps = alone_Bps_[src * hosts + dst];
      if (std::isnan(alone_Bps) || std::isnan(network.latency_s(src, dst))) {
        throw TopologyError("collectives: the pair of hosts " + std::to_string(src) + " -> " +
                            std::to_string(dst) + " was not measured");
      }
      alone_Bps = std::min({alone_Bps, out_Bps_[src], in_Bps_[dst]});
    }
  }
  const GroupList& groups = network.groups;
  if (groups.group_of_pair.empty()) return;
  const auto pair_of = [&groups, hosts](std::size_t entry) {
    return static_cast<std::size_t>(groups.src_of_pair[entry]) * hosts +
           static_cast<std::size_t>(groups.dst_of_pair[entry]);
  };
  first_entry_.assign(hosts * hosts + 1, 0);
  group_of_entry_.resize(groups.group_of_pair.size());
  for (std::size_t entry = 0; entry < group_of_entry_.size(); ++entry) {
    const std::size_t pair = pair_of(entry);
    const auto group = static_cast<std::size_t>(groups.group_of_pair[entry]);
    alone_Bps_[pair] = std::min(alone_Bps_[pair], groups.capacity_Bps[group]);
    ++first_entry_[pair + 1];
  }
  for (std::size_t pair = 0; pair < hosts * hosts; ++pair) {
    max_groups_of_pair_ = std::max(max_groups_of_pair_, std::size_t{first_entry_[pair + 1]});
    first_entry_[pair + 1] += first_entry_[pair];
  }
  std::vector<std::uint32_t> next(first_entry_.begin(), first_entry_.end() - 1);
  for (std::size_t entry = 0; entry < group_of_entry_.size(); ++entry) {
    group_of_entry_[next[pair_of(entry)]++] =
        static_cast<std::int32_t>(groups.group_of_pair[entry]);
  }
}

}  // namespace fairlead::collectives
