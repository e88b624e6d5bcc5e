// SPDX-License-Identifier: Apache-2.0
// Chooses few hosts that are near one another, for jobs smaller than the cluster.
#include "mapping/scotch/packing.hpp"

#include <algorithm>
#include <limits>

namespace fairlead {
namespace {

struct HostCluster {
  std::vector<std::size_t> hosts;  // in the order they were taken
  double cost = 0.0;               // of all pairs in the cluster, both directions
};

/// Takes the nearest next host until the ranks fit.
HostCluster grown_from(std::size_t start, const HostMatrix& cost,
                       std::span<const std::int64_t> slots, std::int64_t num_ranks) {
  HostCluster cluster;
  std::vector<double> cost_to_cluster(cost.num_hosts, 0.0);
  std::size_t next = start;
  while (true) {
    num_ranks -= slots[next];
    cluster.cost += cost_to_cluster[next];
    cluster.hosts.push_back(next);
    if (num_ranks <= 0) return cluster;
    for (std::size_t host = 0; host < cost.num_hosts; ++host) {
      cost_to_cluster[host] += cost(host, next) + cost(next, host);
    }
    cost_to_cluster[next] = std::numeric_limits<double>::infinity();  // never taken twice
    next = static_cast<std::size_t>(std::ranges::min_element(cost_to_cluster) -
                                    cost_to_cluster.begin());
  }
}

}  // namespace

std::vector<std::int64_t> packed_slots(const HostMatrix& cost, std::span<const std::int64_t> slots,
                                       std::int64_t num_ranks) {
  HostCluster best;
  for (std::size_t start = 0; start < cost.num_hosts; ++start) {
    const HostCluster cluster = grown_from(start, cost, slots, num_ranks);
    const bool is_better = best.hosts.empty() || cluster.hosts.size() < best.hosts.size() ||
                           (cluster.hosts.size() == best.hosts.size() && cluster.cost < best.cost);
    if (is_better) best = cluster;
  }
  std::vector<std::int64_t> packed(slots.size(), 0);
  for (const std::size_t host : best.hosts) {
    packed[host] = std::min(slots[host], num_ranks);
    num_ranks -= packed[host];
  }
  return packed;
}

}  // namespace fairlead
