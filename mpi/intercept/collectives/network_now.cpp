// SPDX-License-Identifier: Apache-2.0
#include "collectives/network_now.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace fairlead::intercept {
namespace {

/// How the rate of each pair changed; 0 where it was not measured again, or was not limited.
std::vector<double> changes_of_pairs(const NetworkPlan& old, const NetworkPlan& now) {
  std::vector<double> changes(old.bandwidth_Bps.size());
  for (std::size_t pair = 0; pair < changes.size(); ++pair) {
    const double was_Bps = old.bandwidth_Bps[pair];
    if (!std::isfinite(was_Bps) || now.bandwidth_Bps[pair] == was_Bps) continue;
    changes[pair] = now.bandwidth_Bps[pair] / was_Bps;
  }
  return changes;
}

class Median {
 public:
  void add(double change) {
    if (change > 0) changes_.push_back(change);
  }
  /// 1 where nothing is known.
  [[nodiscard]] double value() {
    if (changes_.empty()) return 1.0;
    const auto middle = changes_.begin() + static_cast<std::ptrdiff_t>(changes_.size() / 2);
    std::nth_element(changes_.begin(), middle, changes_.end());
    return *middle;
  }

 private:
  std::vector<double> changes_;
};

}  // namespace

NetworkPlan updated(NetworkPlan network, std::span<const std::int32_t> hosts,
                    const ProbedPairs& probed) {
  const NetworkPlan old = network;
  const std::size_t num_hosts = network.num_hosts();
  for (std::size_t src = 0; src < hosts.size(); ++src) {
    for (std::size_t dst = 0; dst < hosts.size(); ++dst) {
      const std::size_t from = src * hosts.size() + dst;
      if (src == dst || !(probed.bandwidth_Bps[from] > 0)) continue;
      const std::size_t pair =
          static_cast<std::size_t>(hosts[src]) * num_hosts + static_cast<std::size_t>(hosts[dst]);
      network.latency_s[pair] = probed.latency_s[from];
      network.bandwidth_Bps[pair] = probed.bandwidth_Bps[from];
    }
  }
  const std::vector<double> changes = changes_of_pairs(old, network);
  for (std::size_t host = 0; host < num_hosts; ++host) {
    Median out, in;
    for (std::size_t other = 0; other < num_hosts; ++other) {
      out.add(changes[host * num_hosts + other]);
      in.add(changes[other * num_hosts + host]);
    }
    if (!network.nic_out_Bps.empty()) network.nic_out_Bps[host] *= out.value();
    if (!network.nic_in_Bps.empty()) network.nic_in_Bps[host] *= in.value();
  }
  const BottleneckGroups& groups = old.groups;
  std::vector<Median> of_group(groups.capacity_Bps.size());
  for (std::size_t index = 0; index < groups.group_of_pair.size(); ++index) {
    const auto pair = static_cast<std::size_t>(groups.src_of_pair[index]) * num_hosts +
                      static_cast<std::size_t>(groups.dst_of_pair[index]);
    of_group[static_cast<std::size_t>(groups.group_of_pair[index])].add(changes[pair]);
  }
  for (std::size_t group = 0; group < of_group.size(); ++group) {
    network.groups.capacity_Bps[group] *= of_group[group].value();
  }
  return network;
}

}  // namespace fairlead::intercept
