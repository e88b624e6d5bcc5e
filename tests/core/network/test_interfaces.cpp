// SPDX-License-Identifier: Apache-2.0
// What interfaces carry at least, on simulated networks whose interfaces are known.
#include <algorithm>
#include <cmath>
#include <map>

#include "catch.hpp"
#include "fairlead/network/contention.hpp"
#include "simulated_network.hpp"

using fairlead::find_interfaces;
using fairlead::Flow;
using fairlead::Precision;
using fairlead::test::Racks;
using fairlead::test::SimulatedNetwork;

namespace {

constexpr double kNic_Bps = 100e6;

Racks no_racks(std::size_t num_hosts) {
  return {.rack_of_host = std::vector(num_hosts, -1), .up_Bps = {}, .down_Bps = {}};
}

SimulatedNetwork with_slow_pairs(std::vector<double> nic_Bps, double pair_Bps) {
  const std::size_t num_hosts = nic_Bps.size();
  SimulatedNetwork network(std::move(nic_Bps), no_racks(num_hosts));
  network.limit_pairs(std::vector(num_hosts, std::vector<double>(num_hosts, pair_Bps)));
  return network;
}

}  // namespace

TEST_CASE("interfaces: several slow pairs together fill them") {
  for (const std::size_t num_hosts : {5U, 8U, 13U, 32U}) {
    std::vector<double> nic_Bps(num_hosts, kNic_Bps);
    nic_Bps[3] = 40e6;
    SimulatedNetwork network = with_slow_pairs(nic_Bps, 60e6);

    const auto findings = find_interfaces(network.num_hosts(), network.measurer());

    CAPTURE(num_hosts);
    REQUIRE(findings.is_complete);
    REQUIRE(findings.num_steps == network.num_steps());
    for (std::size_t host = 0; host < num_hosts; ++host) {
      // A partner with a slow interface leaves some of another's unused.
      REQUIRE(findings.nic_out_Bps[host] <= Approx(nic_Bps[host]));
      REQUIRE(findings.nic_out_Bps[host] >= 0.8 * nic_Bps[host]);
      REQUIRE(findings.nic_in_Bps[host] <= Approx(nic_Bps[host]));
      REQUIRE(findings.nic_in_Bps[host] >= 0.8 * nic_Bps[host]);
    }
  }
}

TEST_CASE("interfaces: where pairs are the limit, the rate of several is given") {
  SimulatedNetwork network = with_slow_pairs(std::vector(8, kNic_Bps), 10e6);

  const auto findings = find_interfaces(8, network.measurer());

  REQUIRE(findings.nic_out_Bps[2] == Approx(40e6));
  REQUIRE(findings.nic_in_Bps[2] == Approx(40e6));
}

TEST_CASE("interfaces: steps are few, and a host takes part in no more flows than allowed") {
  for (const int num_hosts : {3, 4, 8, 100}) {
    for (const int most : {4, 8}) {
      int num_steps = 0;
      std::map<int, int> flows_of_host;
      const auto measure = [&](std::span<const Flow> flows, Precision) {
        ++num_steps;
        flows_of_host.clear();
        for (const Flow flow : flows) {
          REQUIRE(flow.src != flow.dst);
          ++flows_of_host[flow.src];
          ++flows_of_host[flow.dst];
        }
        return std::optional(std::vector(flows.size(), 1e6));
      };

      static_cast<void>(find_interfaces(num_hosts, measure, most));

      CAPTURE(num_hosts, most);
      REQUIRE(num_steps == 3);
      REQUIRE(flows_of_host.size() == static_cast<std::size_t>(num_hosts));
      for (const auto& [host, num_flows] : flows_of_host) {
        REQUIRE(num_flows == std::min(most, 2 * (num_hosts - 1)));
      }
    }
  }
}

TEST_CASE("interfaces: a silent host costs only itself") {
  SimulatedNetwork network = with_slow_pairs(std::vector(10, kNic_Bps), 60e6);
  network.silence(3);

  const auto findings = find_interfaces(10, network.measurer());

  REQUIRE(std::isnan(findings.nic_out_Bps[3]));
  REQUIRE(std::isnan(findings.nic_in_Bps[3]));
  REQUIRE(findings.nic_in_Bps[4] > 0.7 * kNic_Bps);
}

TEST_CASE("interfaces: two hosts have one pair, which shows nothing more") {
  for (const std::size_t num_hosts : {1U, 2U}) {
    SimulatedNetwork network(std::vector(num_hosts, kNic_Bps), no_racks(num_hosts));

    const auto findings = find_interfaces(network.num_hosts(), network.measurer());

    REQUIRE(findings.num_steps == 0);
    REQUIRE(std::isnan(findings.nic_out_Bps[0]));
  }
}

TEST_CASE("interfaces: when the steps end, what was found so far is kept") {
  SimulatedNetwork network = with_slow_pairs(std::vector(8, kNic_Bps), 60e6);
  network.end_after(1);

  const auto findings = find_interfaces(8, network.measurer());

  REQUIRE_FALSE(findings.is_complete);
  REQUIRE(findings.num_steps == 1);
  REQUIRE(findings.nic_out_Bps[0] == Approx(kNic_Bps));
}
