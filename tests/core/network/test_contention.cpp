// SPDX-License-Identifier: Apache-2.0
// What the contention probe infers on simulated networks whose bottlenecks are known.
#include "fairlead/network/contention.hpp"

#include <cmath>
#include <set>

#include "catch.hpp"
#include "simulated_network.hpp"

using fairlead::BottleneckGroup;
using fairlead::ContentionFindings;
using fairlead::find_contention;
using fairlead::test::hidden_racks;
using fairlead::test::Racks;
using fairlead::test::SimulatedNetwork;

namespace {

constexpr double kNic_Bps = 100e6;
constexpr double kNoise_ratio = 0.03;

struct GroupHosts {
  std::vector<int> sources;
  std::vector<int> destinations;

  friend auto operator<=>(const GroupHosts&, const GroupHosts&) = default;
};

std::vector<int> hosts_where(const Racks& racks, int rack, bool is_inside) {
  std::vector<int> hosts;
  for (std::size_t host = 0; host < racks.rack_of_host.size(); ++host) {
    if ((racks.rack_of_host[host] == rack) == is_inside) hosts.push_back(static_cast<int>(host));
  }
  return hosts;
}

/// Each rack of two or more hosts to all the others and back. Of two racks, one group each way.
std::set<GroupHosts> groups_of(const Racks& racks, int num_racks) {
  std::set<GroupHosts> groups;
  for (int rack = 0; rack < num_racks; ++rack) {
    const auto inside = hosts_where(racks, rack, true);
    const auto outside = hosts_where(racks, rack, false);
    groups.insert({inside, outside});
    groups.insert({outside, inside});
  }
  return groups;
}

std::set<GroupHosts> found_groups(const ContentionFindings& findings) {
  std::set<GroupHosts> groups;
  for (const BottleneckGroup& group : findings.groups) {
    groups.insert({group.sources, group.destinations});
  }
  return groups;
}

std::set<GroupHosts> without(const std::set<GroupHosts>& groups, int host) {
  std::set<GroupHosts> fewer;
  for (GroupHosts group : groups) {
    std::erase(group.sources, host);
    std::erase(group.destinations, host);
    fewer.insert(group);
  }
  return fewer;
}

std::vector<double> nics(std::size_t num_hosts) {
  return std::vector(num_hosts, kNic_Bps);
}

Racks equal_racks(const std::vector<int>& sizes, double uplink_Bps, unsigned seed) {
  return {.rack_of_host = hidden_racks(sizes, seed),
          .up_Bps = std::vector(sizes.size(), uplink_Bps),
          .down_Bps = std::vector(sizes.size(), uplink_Bps)};
}

Racks no_racks(std::size_t num_hosts) {
  return {.rack_of_host = std::vector(num_hosts, -1), .up_Bps = {}, .down_Bps = {}};
}

double steps_bound(std::size_t num_hosts, double factor) {
  const auto hosts = static_cast<double>(num_hosts);
  return factor * hosts * std::log2(hosts);
}

}  // namespace

TEST_CASE("contention: racks of any number and size are found, with their uplinks") {
  const std::vector<std::vector<int>> all_sizes = {
      {2, 2}, {4, 4}, {5, 3}, {2, 7}, {3, 4, 5}, {4, 4, 4, 4}, {6, 3, 2, 5, 4}, {5, 5, 5, 5, 5, 5}};
  // A fifth of an interface, and as fast as one: the pairs alone then show nothing.
  for (const double uplink_Bps : {20e6, kNic_Bps}) {
    for (const auto& sizes : all_sizes) {
      for (unsigned seed = 1; seed <= 5; ++seed) {
        const Racks racks = equal_racks(sizes, uplink_Bps, seed);
        SimulatedNetwork network(nics(racks.rack_of_host.size()), racks, kNoise_ratio, seed);

        const auto findings =
            find_contention(network.num_hosts(), network.measurer(), {.seed = seed});

        CAPTURE(uplink_Bps, sizes, seed);
        REQUIRE(found_groups(findings) == groups_of(racks, static_cast<int>(sizes.size())));
        for (const BottleneckGroup& group : findings.groups) {
          REQUIRE(group.capacity_Bps.median == Approx(uplink_Bps).epsilon(0.05));
          REQUIRE(group.capacity_Bps.low <= group.capacity_Bps.median);
          REQUIRE(group.confidence_ratio > 0.95);
        }
      }
    }
  }
}

TEST_CASE("contention: uplinks that differ are distinguished, and both directions of each") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Racks racks = equal_racks({4, 5, 4}, kNic_Bps, seed);
    racks.up_Bps = {20e6, 30e6, 25e6};
    racks.down_Bps = {60e6, 80e6, 70e6};
    SimulatedNetwork network(nics(13), racks, kNoise_ratio, seed);

    const auto findings = find_contention(13, network.measurer(), {.seed = seed});

    // Two flows from different racks bring at most 55e6: no way in is ever full.
    CAPTURE(seed);
    std::set<GroupHosts> expected;
    for (const int rack : {0, 1, 2}) {
      expected.insert({hosts_where(racks, rack, true), hosts_where(racks, rack, false)});
    }
    REQUIRE(found_groups(findings) == expected);
    for (const BottleneckGroup& group : findings.groups) {
      const int rack = racks.rack_of_host[static_cast<std::size_t>(group.sources.front())];
      REQUIRE(group.capacity_Bps.median ==
              Approx(racks.up_Bps[static_cast<std::size_t>(rack)]).epsilon(0.05));
    }
  }
}

TEST_CASE("contention: one way only, where the other is wide") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Racks racks = equal_racks({4, 4}, kNic_Bps, seed);
    racks.up_Bps = {20e6, 800e6};
    racks.down_Bps = {800e6, 800e6};
    SimulatedNetwork network(nics(8), racks, kNoise_ratio, seed);

    const auto findings = find_contention(8, network.measurer(), {.seed = seed});

    REQUIRE(found_groups(findings) ==
            std::set<GroupHosts>{{hosts_where(racks, 0, true), hosts_where(racks, 0, false)}});
  }
}

TEST_CASE("contention: a rack next to hosts without a rack") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Racks racks = equal_racks({6, 8}, 50e6, seed);
    for (int& rack : racks.rack_of_host) rack = rack == 1 ? -1 : rack;
    SimulatedNetwork network(nics(14), racks, kNoise_ratio, seed);

    const auto findings = find_contention(14, network.measurer(), {.seed = seed});

    CAPTURE(seed);
    REQUIRE(found_groups(findings) == groups_of(racks, 1));
  }
}

TEST_CASE("contention: no group is invented where nothing is shared") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SimulatedNetwork flat(nics(8), no_racks(8), 0.1, seed);
    SimulatedNetwork pairwise(nics(8), no_racks(8), 0.1, seed);
    std::mt19937 random(seed);
    std::lognormal_distribution<double> rate_Bps(std::log(37.5e6), 0.7);
    std::vector<std::vector<double>> pair_Bps(8, std::vector<double>(8));
    for (auto& row : pair_Bps) {
      for (double& cell : row) cell = rate_Bps(random);
    }
    pairwise.limit_pairs(pair_Bps);

    CAPTURE(seed);
    REQUIRE(find_contention(8, flat.measurer(), {.seed = seed}).groups.empty());
    REQUIRE(find_contention(8, pairwise.measurer(), {.seed = seed}).groups.empty());
  }
}

TEST_CASE("contention: the processor of one machine is not taken for a bottleneck") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    // It cannot carry two flows of 100e6 at a time.
    SimulatedNetwork flat(nics(8), no_racks(8), 0.05, seed);
    flat.limit_processor(110e6);
    const Racks racks = equal_racks({4, 4}, 25e6, seed);
    SimulatedNetwork two_racks(nics(8), racks, 0.05, seed);
    two_racks.limit_processor(110e6);

    CAPTURE(seed);
    const fairlead::ContentionOptions options{.is_one_machine = true, .seed = seed};
    REQUIRE(find_contention(8, flat.measurer(), options).groups.empty());
    REQUIRE(found_groups(find_contention(8, two_racks.measurer(), options)) == groups_of(racks, 2));
  }
}

TEST_CASE("contention: interfaces are filled by several partners, outside the bottlenecks") {
  Racks racks = equal_racks({4, 4}, 20e6, 3);
  std::vector<double> nic_Bps = nics(8);
  nic_Bps[5] = 40e6;
  SimulatedNetwork network(nic_Bps, racks, 0.01);
  // Single pairs carry less than the interfaces.
  network.limit_pairs(std::vector(8, std::vector<double>(8, 60e6)));

  const auto findings = find_contention(8, network.measurer());

  for (std::size_t host = 0; host < 8; ++host) {
    REQUIRE(findings.nic_out_Bps[host] == Approx(nic_Bps[host]).epsilon(0.05));
    REQUIRE(findings.nic_in_Bps[host] == Approx(nic_Bps[host]).epsilon(0.05));
  }
}

TEST_CASE("contention: a host sends to no more partners than allowed") {
  SimulatedNetwork network(nics(12), no_racks(12));
  network.limit_pairs(std::vector(12, std::vector<double>(12, 10e6)));

  const auto findings = find_contention(12, network.measurer(), {.max_nic_flows = 4});

  REQUIRE(network.most_flows() == 4);
  REQUIRE(findings.nic_out_Bps[0] == Approx(40e6));
}

TEST_CASE("contention: steps grow no faster than H log H with a few groups") {
  double factor_before = std::numeric_limits<double>::infinity();
  for (const int rack_size : {2, 4, 8, 16, 32, 64}) {
    const Racks racks = equal_racks(std::vector(4, rack_size), 25e6, 2);
    const std::size_t num_hosts = racks.rack_of_host.size();
    SimulatedNetwork network(nics(num_hosts), racks, kNoise_ratio);

    const auto findings = find_contention(network.num_hosts(), network.measurer());

    CAPTURE(num_hosts, findings.num_steps);
    REQUIRE(found_groups(findings) == groups_of(racks, 4));
    REQUIRE(findings.num_steps == network.num_steps());
    const double factor = findings.num_steps / steps_bound(num_hosts, 1);
    REQUIRE(factor <= factor_before * 1.1);
    factor_before = factor;
  }
}

TEST_CASE("contention: without groups, steps grow no faster than H log H either") {
  for (const std::size_t num_hosts : {4U, 16U, 64U, 256U}) {
    SimulatedNetwork network(nics(num_hosts), no_racks(num_hosts), kNoise_ratio);

    const auto findings = find_contention(network.num_hosts(), network.measurer());

    REQUIRE(findings.groups.empty());
    REQUIRE(findings.num_steps < steps_bound(num_hosts, 24));
  }
}

TEST_CASE("contention: when the steps end, what was found so far is kept") {
  const Racks racks = equal_racks({4, 4}, 25e6, 1);
  std::size_t num_before = 0;
  for (const int num_steps : {0, 1, 20, 50, 100, 20000}) {
    SimulatedNetwork network(nics(8), racks, kNoise_ratio);
    network.end_after(num_steps);

    const auto findings = find_contention(8, network.measurer());

    REQUIRE(findings.num_steps <= num_steps);
    REQUIRE(findings.is_complete == (num_steps > 10000));
    REQUIRE(findings.groups.size() >= num_before);
    num_before = findings.groups.size();
  }
  REQUIRE(num_before == 2);
}

TEST_CASE("contention: a silent host costs only itself") {
  const Racks racks = equal_racks({5, 5}, 25e6, 1);
  SimulatedNetwork network(nics(10), racks, kNoise_ratio);
  network.silence(3);

  const auto findings = find_contention(10, network.measurer());

  REQUIRE(std::isnan(findings.nic_out_Bps[3]));
  REQUIRE(findings.nic_in_Bps[4] == Approx(kNic_Bps).epsilon(0.1));
  REQUIRE(without(found_groups(findings), 3) == without(groups_of(racks, 2), 3));
}

TEST_CASE("contention: fewer than four hosts have interfaces, but no groups") {
  for (const std::size_t num_hosts : {1U, 2U, 3U}) {
    SimulatedNetwork network(nics(num_hosts), no_racks(num_hosts));

    const auto findings = find_contention(network.num_hosts(), network.measurer());

    REQUIRE(findings.groups.empty());
    REQUIRE(findings.is_complete);
    REQUIRE(std::isnan(findings.nic_out_Bps[0]) == (num_hosts == 1));
  }
}
