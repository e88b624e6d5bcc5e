// SPDX-License-Identifier: Apache-2.0
// What a placement costs on a measured network.
#include "fairlead/mapping/placement_cost.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace fairlead {
namespace {

std::size_t host(HostOfRank host_of_rank, std::size_t rank) {
  return static_cast<std::size_t>(host_of_rank[rank]);
}

/// Traffic between hosts, (H, H), rows first.
std::vector<double> between_hosts(const RankMatrix& traffic, HostOfRank host_of_rank,
                                  std::size_t num_hosts) {
  std::vector<double> load(num_hosts * num_hosts, 0.0);
  traffic.for_each(
      [&load, host_of_rank, num_hosts](std::size_t src, std::size_t dst, double value) {
        load[host(host_of_rank, src) * num_hosts + host(host_of_rank, dst)] += value;
      });
  return load;
}

/// The measured capacities, or the fastest pair of each NIC without one.
/// @param pair_Bps  bandwidth from a NIC to a peer, or to a NIC from a peer
template <typename PairRate>
std::vector<double> capacities_Bps(std::span<const double> measured_Bps, std::size_t num_hosts,
                                   PairRate pair_Bps) {
  std::vector<double> capacity_Bps(num_hosts, 0.0);
  for (std::size_t nic = 0; nic < num_hosts; ++nic) {
    if (!measured_Bps.empty() && !std::isnan(measured_Bps[nic])) {
      capacity_Bps[nic] = measured_Bps[nic];
      continue;
    }
    for (std::size_t peer = 0; peer < num_hosts; ++peer) {
      if (peer != nic) capacity_Bps[nic] = std::fmax(capacity_Bps[nic], pair_Bps(nic, peer));
    }
  }
  return capacity_Bps;
}

double largest_pair_s(const std::vector<double>& load_bytes, const HostMatrix& bandwidth_Bps) {
  double largest_s = 0.0;
  for (std::size_t src = 0; src < bandwidth_Bps.num_hosts; ++src) {
    for (std::size_t dst = 0; dst < bandwidth_Bps.num_hosts; ++dst) {
      const double pair_bytes = load_bytes[src * bandwidth_Bps.num_hosts + dst];
      if (src != dst && pair_bytes > 0.0) {
        largest_s = std::max(largest_s, pair_bytes / bandwidth_Bps(src, dst));
      }
    }
  }
  return largest_s;
}

double largest_nic_s(const std::vector<double>& load_bytes, const MeasuredNetwork& network) {
  const std::size_t num_hosts = network.bandwidth_Bps.num_hosts;
  const std::vector<double> out_Bps = sending_capacities_Bps(network);
  const std::vector<double> in_Bps = receiving_capacities_Bps(network);
  double largest_s = 0.0;
  for (std::size_t nic = 0; nic < num_hosts; ++nic) {
    double out_bytes = 0.0, in_bytes = 0.0;
    for (std::size_t peer = 0; peer < num_hosts; ++peer) {
      if (peer == nic) continue;
      out_bytes += load_bytes[nic * num_hosts + peer];
      in_bytes += load_bytes[peer * num_hosts + nic];
    }
    if (out_bytes > 0.0) largest_s = std::max(largest_s, out_bytes / out_Bps[nic]);
    if (in_bytes > 0.0) largest_s = std::max(largest_s, in_bytes / in_Bps[nic]);
  }
  return largest_s;
}

double largest_group_s(const std::vector<double>& load_bytes, std::size_t num_hosts,
                       const GroupList& groups) {
  std::vector<double> group_bytes(groups.capacity_Bps.size(), 0.0);
  for (std::size_t pair = 0; pair < groups.group_of_pair.size(); ++pair) {
    const auto src = static_cast<std::size_t>(groups.src_of_pair[pair]);
    const auto dst = static_cast<std::size_t>(groups.dst_of_pair[pair]);
    group_bytes[static_cast<std::size_t>(groups.group_of_pair[pair])] +=
        load_bytes[src * num_hosts + dst];
  }
  double largest_s = 0.0;
  for (std::size_t group = 0; group < group_bytes.size(); ++group) {
    largest_s = std::max(largest_s, group_bytes[group] / groups.capacity_Bps[group]);
  }
  return largest_s;
}

/// Bytes between different ranks on the same host: CloudMap's equation 3 is over pairs i < j.
double bytes_inside_hosts(const RankMatrix& bytes, HostOfRank host_of_rank) {
  double inside_bytes = 0.0;
  bytes.for_each([&inside_bytes, host_of_rank](std::size_t src, std::size_t dst, double value) {
    if (src != dst && host(host_of_rank, src) == host(host_of_rank, dst)) inside_bytes += value;
  });
  return inside_bytes;
}

/// The worst rank's summed latencies: of its sends or of its receives, whichever is more, since the
/// two overlap.
double worst_rank_latency_s(const RankMatrix& messages, const HostMatrix& latency_s,
                            HostOfRank host_of_rank) {
  std::vector<double> sent_s(host_of_rank.size(), 0.0), received_s(host_of_rank.size(), 0.0);
  messages.for_each([&](std::size_t src, std::size_t dst, double number) {
    const double wait_s = number * latency_s(host(host_of_rank, src), host(host_of_rank, dst));
    sent_s[src] += wait_s;
    received_s[dst] += wait_s;
  });
  return std::max(*std::ranges::max_element(sent_s), *std::ranges::max_element(received_s));
}

}  // namespace

double weighted_sum(const RankMatrix& traffic, const HostMatrix& cost, HostOfRank host_of_rank) {
  double sum = 0.0;
  traffic.for_each([&sum, &cost, host_of_rank](std::size_t src, std::size_t dst, double value) {
    sum += value * cost(host(host_of_rank, src), host(host_of_rank, dst));
  });
  return sum;
}

std::vector<double> sending_capacities_Bps(const MeasuredNetwork& network) {
  return capacities_Bps(
      network.nic_out_Bps, network.bandwidth_Bps.num_hosts,
      [&network](std::size_t nic, std::size_t peer) { return network.bandwidth_Bps(nic, peer); });
}

std::vector<double> receiving_capacities_Bps(const MeasuredNetwork& network) {
  return capacities_Bps(
      network.nic_in_Bps, network.bandwidth_Bps.num_hosts,
      [&network](std::size_t nic, std::size_t peer) { return network.bandwidth_Bps(peer, nic); });
}

PlacementCost evaluate(const RankMatrix& bytes, const RankMatrix& messages,
                       const MeasuredNetwork& network, HostOfRank host_of_rank) {
  const HostMatrix& latency_s = network.latency_s;
  const HostMatrix& bandwidth_Bps = network.bandwidth_Bps;
  assert(bytes.num_ranks() == host_of_rank.size() && messages.num_ranks() == host_of_rank.size());
  const std::size_t num_hosts = latency_s.num_hosts;
  const std::vector<double> load_bytes = between_hosts(bytes, host_of_rank, num_hosts);

  PlacementCost cost{};
  for (std::size_t src = 0; src < num_hosts; ++src) {
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      const double pair_bytes = load_bytes[src * num_hosts + dst];
      const double pair_s = pair_bytes > 0.0 ? pair_bytes / bandwidth_Bps(src, dst) : 0.0;
      if (src != dst) cost.inter_bytes += pair_bytes;
      if (src != dst) cost.comm_time_s += pair_s;
      cost.weighted_sum_bytes += pair_s;
    }
  }
  cost.intra_bytes = bytes_inside_hosts(bytes, host_of_rank);
  cost.weighted_sum_messages = weighted_sum(messages, latency_s, host_of_rank);
  cost.serial_time_s = cost.weighted_sum_messages + cost.weighted_sum_bytes;
  // In Python nan means an unmeasured pair; std::max would lose it.
  const double pair_s = std::isnan(cost.weighted_sum_bytes)
                            ? cost.weighted_sum_bytes
                            : largest_pair_s(load_bytes, bandwidth_Bps);
  cost.bottleneck_s = std::max({pair_s, largest_nic_s(load_bytes, network),
                                largest_group_s(load_bytes, num_hosts, network.groups)}) +
                      worst_rank_latency_s(messages, latency_s, host_of_rank);
  const std::size_t num_sharing = std::min(num_hosts, host_of_rank.size());
  cost.bottleneck_and_mean_s =
      cost.bottleneck_s + cost.serial_time_s / static_cast<double>(num_sharing);
  return cost;
}

}  // namespace fairlead
