// SPDX-License-Identifier: Apache-2.0
// The time of the slowest rank: what it computes, and what its host sends and receives.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fairlead/mapping/compute_demand.hpp"

namespace fairlead {
namespace {

std::size_t host_at(HostOfRank host_of_rank, std::size_t rank) {
  return static_cast<std::size_t>(host_of_rank[rank]);
}

/// Computing time and latencies of the slowest rank of each host.
std::vector<double> own_times_s(const RankMatrix& messages, const HostMatrix& latency_s,
                                const ComputeDemand& demand, HostOfRank host_of_rank) {
  const std::size_t num_ranks = host_of_rank.size();
  std::vector<double> sent_s(num_ranks, 0.0), received_s(num_ranks, 0.0);
  messages.for_each([&](std::size_t src, std::size_t dst, double number) {
    const double wait_s =
        number * latency_s(host_at(host_of_rank, src), host_at(host_of_rank, dst));
    sent_s[src] += wait_s;
    received_s[dst] += wait_s;
  });
  std::vector<double> num_ranks_of_host(latency_s.num_hosts, 0.0);
  for (const std::int64_t host : host_of_rank) ++num_ranks_of_host[static_cast<std::size_t>(host)];
  std::vector<double> own_s(latency_s.num_hosts, 0.0);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    const std::size_t host = host_at(host_of_rank, rank);
    const double computing_s =
        demand.work_s[rank] * demand.seconds_per_work(host, num_ranks_of_host[host]);
    own_s[host] = std::max(own_s[host], computing_s + std::max(sent_s[rank], received_s[rank]));
  }
  return own_s;
}

/// The busiest NIC, pair or group that each host uses.
std::vector<double> busiest_s(const RankMatrix& bytes, const MeasuredNetwork& network,
                              HostOfRank host_of_rank) {
  const std::size_t num_hosts = network.bandwidth_Bps.num_hosts;
  std::vector<double> load_bytes(num_hosts * num_hosts, 0.0);
  bytes.for_each([&](std::size_t src, std::size_t dst, double value) {
    load_bytes[host_at(host_of_rank, src) * num_hosts + host_at(host_of_rank, dst)] += value;
  });
  const std::vector<double> out_Bps = sending_capacities_Bps(network);
  const std::vector<double> in_Bps = receiving_capacities_Bps(network);
  std::vector<double> busiest(num_hosts, 0.0), out_bytes(num_hosts, 0.0), in_bytes(num_hosts, 0.0);
  const auto raise = [&busiest](std::size_t host, double seconds) {
    busiest[host] = std::max(busiest[host], seconds);
  };
  for (std::size_t src = 0; src < num_hosts; ++src) {
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      const double pair_bytes = load_bytes[src * num_hosts + dst];
      if (src == dst || pair_bytes <= 0.0) continue;
      out_bytes[src] += pair_bytes;
      in_bytes[dst] += pair_bytes;
      raise(src, pair_bytes / network.bandwidth_Bps(src, dst));
      raise(dst, pair_bytes / network.bandwidth_Bps(src, dst));
    }
  }
  for (std::size_t host = 0; host < num_hosts; ++host) {
    if (out_bytes[host] > 0.0) raise(host, out_bytes[host] / out_Bps[host]);
    if (in_bytes[host] > 0.0) raise(host, in_bytes[host] / in_Bps[host]);
  }
  const GroupList& groups = network.groups;
  std::vector<double> group_bytes(groups.capacity_Bps.size(), 0.0);
  const auto for_each_pair = [&groups](auto visit) {
    for (std::size_t entry = 0; entry < groups.group_of_pair.size(); ++entry) {
      const auto src = static_cast<std::size_t>(groups.src_of_pair[entry]);
      const auto dst = static_cast<std::size_t>(groups.dst_of_pair[entry]);
      visit(static_cast<std::size_t>(groups.group_of_pair[entry]), src, dst);
    }
  };
  for_each_pair([&](std::size_t group, std::size_t src, std::size_t dst) {
    group_bytes[group] += load_bytes[src * num_hosts + dst];
  });
  for_each_pair([&](std::size_t group, std::size_t src, std::size_t dst) {
    if (load_bytes[src * num_hosts + dst] <= 0.0) return;
    raise(src, group_bytes[group] / groups.capacity_Bps[group]);
    raise(dst, group_bytes[group] / groups.capacity_Bps[group]);
  });
  return busiest;
}

}  // namespace

double slowest_rank_s(const RankMatrix& bytes, const RankMatrix& messages,
                      const MeasuredNetwork& network, const ComputeDemand& demand,
                      HostOfRank host_of_rank) {
  assert(demand.work_s.size() == host_of_rank.size());
  const std::vector<double> own_s = own_times_s(messages, network.latency_s, demand, host_of_rank);
  const std::vector<double> network_s = busiest_s(bytes, network, host_of_rank);
  double slowest_s = 0.0;
  for (const std::int64_t index : host_of_rank) {
    const auto host = static_cast<std::size_t>(index);
    slowest_s = std::max(slowest_s, own_s[host] + network_s[host]);
  }
  const std::size_t num_sharing = std::min(network.latency_s.num_hosts, host_of_rank.size());
  // std::max would lose the nan of an unmeasured pair; the sum has it.
  return slowest_s + evaluate(bytes, messages, network, host_of_rank).serial_time_s /
                         static_cast<double>(num_sharing);
}

}  // namespace fairlead
