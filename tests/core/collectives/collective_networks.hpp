// SPDX-License-Identifier: Apache-2.0
// Small networks for the tests of collectives.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "fairlead/mapping/placement_cost.hpp"

/// A network that owns its matrices.
struct TestNetwork {
  std::size_t num_hosts;
  std::vector<double> latency_s, bandwidth_Bps, nic_out_Bps{}, nic_in_Bps{};
  std::vector<std::int64_t> group_of_pair{}, src_of_pair{}, dst_of_pair{};
  std::vector<double> capacity_Bps{};

  [[nodiscard]] fairlead::MeasuredNetwork view() const {
    return {.latency_s = {num_hosts, latency_s},
            .bandwidth_Bps = {num_hosts, bandwidth_Bps},
            .nic_out_Bps = nic_out_Bps,
            .nic_in_Bps = nic_in_Bps,
            .groups = {group_of_pair, src_of_pair, dst_of_pair, capacity_Bps}};
  }

  double& bandwidth(std::size_t src, std::size_t dst) {
    return bandwidth_Bps[src * num_hosts + dst];
  }
  double& latency(std::size_t src, std::size_t dst) { return latency_s[src * num_hosts + dst]; }

  /// A new group of all pairs for which `is_in(src, dst)`.
  template <typename IsIn>
  void add_group(double group_Bps, IsIn is_in) {
    for (std::size_t src = 0; src < num_hosts; ++src) {
      for (std::size_t dst = 0; dst < num_hosts; ++dst) {
        if (src == dst || !is_in(src, dst)) continue;
        group_of_pair.push_back(static_cast<std::int64_t>(capacity_Bps.size()));
        src_of_pair.push_back(static_cast<std::int64_t>(src));
        dst_of_pair.push_back(static_cast<std::int64_t>(dst));
      }
    }
    capacity_Bps.push_back(group_Bps);
  }
};

inline TestNetwork even_network(std::size_t num_hosts, double latency_s, double rate_Bps) {
  TestNetwork network{num_hosts, std::vector<double>(num_hosts * num_hosts, latency_s),
                      std::vector<double>(num_hosts * num_hosts, rate_Bps)};
  for (std::size_t host = 0; host < num_hosts; ++host) {
    network.latency(host, host) = 0.0;
    network.bandwidth(host, host) = std::numeric_limits<double>::infinity();
  }
  return network;
}

/// Racks of equal size, hosts dealt in turn, each behind an uplink in each direction.
inline TestNetwork racked_network(std::size_t num_hosts, std::size_t num_racks, double latency_s,
                                  double rate_Bps, double uplink_Bps) {
  TestNetwork network = even_network(num_hosts, latency_s, rate_Bps);
  for (std::size_t rack = 0; rack < num_racks; ++rack) {
    network.add_group(uplink_Bps, [=](std::size_t src, std::size_t dst) {
      return src % num_racks == rack && dst % num_racks != rack;
    });
    network.add_group(uplink_Bps, [=](std::size_t src, std::size_t dst) {
      return dst % num_racks == rack && src % num_racks != rack;
    });
  }
  return network;
}

/// Lognormal pairs behind NICs of one rate.
inline TestNetwork drawn_network(std::size_t num_hosts, double latency_s, double rate_Bps,
                                 std::uint64_t seed) {
  TestNetwork network = even_network(num_hosts, latency_s, rate_Bps);
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> factor(0.0, 0.5);
  for (std::size_t src = 0; src < num_hosts; ++src) {
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      if (src == dst) continue;
      network.bandwidth(src, dst) *= 0.6 * factor(random);
      network.latency(src, dst) *= factor(random);
    }
  }
  network.nic_out_Bps.assign(num_hosts, rate_Bps);
  network.nic_in_Bps.assign(num_hosts, rate_Bps);
  return network;
}
