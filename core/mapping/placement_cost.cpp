// SPDX-License-Identifier: Apache-2.0
// What a placement costs on a measured network.
#include "fairlead/placement_cost.hpp"

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

/// The largest load / capacity over all directed pairs and over all NICs, out and in. Nobody
/// measured a NIC alone: its capacity is taken as the fastest pair seen through it.
double largest_transfer_s(const std::vector<double>& load_bytes, const HostMatrix& bandwidth_Bps) {
  const std::size_t num_hosts = bandwidth_Bps.num_hosts;
  double largest_s = 0.0;
  for (std::size_t nic = 0; nic < num_hosts; ++nic) {
    double out_bytes = 0.0, in_bytes = 0.0, out_Bps = 0.0, in_Bps = 0.0;
    for (std::size_t peer = 0; peer < num_hosts; ++peer) {
      if (peer == nic) continue;
      const double pair_bytes = load_bytes[nic * num_hosts + peer];
      if (pair_bytes > 0.0) {
        largest_s = std::max(largest_s, pair_bytes / bandwidth_Bps(nic, peer));
      }
      out_bytes += pair_bytes;
      in_bytes += load_bytes[peer * num_hosts + nic];
      out_Bps = std::fmax(out_Bps, bandwidth_Bps(nic, peer));
      in_Bps = std::fmax(in_Bps, bandwidth_Bps(peer, nic));
    }
    if (out_bytes > 0.0) largest_s = std::max(largest_s, out_bytes / out_Bps);
    if (in_bytes > 0.0) largest_s = std::max(largest_s, in_bytes / in_Bps);
  }
  return largest_s;
}

/// The worst rank's summed latencies: of what it sends or of what it receives, whichever is more,
/// since the two overlap.
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

PlacementCost evaluate(const RankMatrix& bytes, const RankMatrix& messages,
                       const HostMatrix& latency_s, const HostMatrix& bandwidth_Bps,
                       HostOfRank host_of_rank) {
  assert(bytes.num_ranks() == host_of_rank.size() && messages.num_ranks() == host_of_rank.size());
  const std::size_t num_hosts = latency_s.num_hosts;
  const std::vector<double> load_bytes = between_hosts(bytes, host_of_rank, num_hosts);

  PlacementCost cost{};
  for (std::size_t src = 0; src < num_hosts; ++src) {
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      const double pair_bytes = load_bytes[src * num_hosts + dst];
      (src == dst ? cost.intra_bytes : cost.inter_bytes) += pair_bytes;
      if (pair_bytes > 0.0) cost.weighted_sum_bytes += pair_bytes / bandwidth_Bps(src, dst);
    }
  }
  cost.weighted_sum_messages = weighted_sum(messages, latency_s, host_of_rank);
  cost.comm_time_s = cost.weighted_sum_messages + cost.weighted_sum_bytes;
  cost.bottleneck_s = largest_transfer_s(load_bytes, bandwidth_Bps) +
                      worst_rank_latency_s(messages, latency_s, host_of_rank);
  return cost;
}

}  // namespace fairlead
