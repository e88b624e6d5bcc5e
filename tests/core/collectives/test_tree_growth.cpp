// SPDX-License-Identifier: Apache-2.0
// Trees that are grown at once: they span, and NICs, pairs and groups carry them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "catch.hpp"
#include "collective_networks.hpp"
#include "collectives/trees/tree_growth.hpp"
#include "fairlead/collectives/schedule.hpp"

namespace {

using namespace fairlead::collectives;

constexpr double kRate_Bps = 1e8;
constexpr double kLatency_s = 1e-4;

std::vector<ParentOfHost> grow(const TestNetwork& network, std::int32_t num_trees,
                               Operation operation = Operation::bcast,
                               double latency_sharing = 0.0) {
  const auto view = network.view();
  const Links links(view);
  const TreeLinks tree_links(links, operation);
  const double message_Bps = operation == Operation::allreduce ? kRate_Bps / 2.0 : kRate_Bps;
  const std::vector<std::int32_t> roots(static_cast<std::size_t>(num_trees), 0);
  return grow_trees(tree_links, islands_of(links), roots,
                    {.num_trees = num_trees,
                     .message_Bps = message_Bps,
                     .segment_bytes = 65536.0,
                     .latency_sharing = latency_sharing});
}

std::size_t depth(const ParentOfHost& parents) {
  std::size_t deepest = 0;
  for (std::size_t leaf = 0; leaf < parents.size(); ++leaf) {
    std::size_t num_hops = 0;
    for (auto host = leaf; parents[host] != kNoHost;
         host = static_cast<std::size_t>(parents[host])) {
      REQUIRE(++num_hops < parents.size());
    }
    deepest = std::max(deepest, num_hops);
  }
  return deepest;
}

std::size_t num_children(const std::vector<ParentOfHost>& trees, std::int32_t host) {
  std::size_t num = 0;
  for (const ParentOfHost& parents : trees) {
    num += static_cast<std::size_t>(std::count(parents.begin(), parents.end(), host));
  }
  return num;
}

/// Trees in which the host has children.
std::size_t num_trees_inside(const std::vector<ParentOfHost>& trees, std::int32_t host) {
  return static_cast<std::size_t>(std::count_if(trees.begin(), trees.end(), [=](const auto& tree) {
    return std::find(tree.begin(), tree.end(), host) != tree.end();
  }));
}

std::size_t num_crossings(const ParentOfHost& parents, std::size_t num_racks) {
  std::size_t num = 0;
  for (std::size_t host = 0; host < parents.size(); ++host) {
    if (parents[host] == kNoHost) continue;
    if (static_cast<std::size_t>(parents[host]) % num_racks != host % num_racks) ++num;
  }
  return num;
}

}  // namespace

TEST_CASE("trees: no host sends more than its NIC carries, and each root once in a tree") {
  const auto num_trees = GENERATE(2, 3, 4, 5);
  const auto num_hosts = GENERATE(std::size_t{7}, std::size_t{16}, std::size_t{64});
  const auto trees = grow(even_network(num_hosts, kLatency_s, kRate_Bps), num_trees);
  REQUIRE(trees.size() == static_cast<std::size_t>(num_trees));
  for (std::size_t host = 0; host < num_hosts; ++host) {
    CHECK(num_children(trees, static_cast<std::int32_t>(host)) <=
          static_cast<std::size_t>(num_trees));
  }
  for (const ParentOfHost& parents : trees) {
    CHECK(std::count(parents.begin(), parents.end(), 0) == 1);
  }
}

TEST_CASE("trees: where the hosts suffice, each but the root is inside only one") {
  // With as many children as there are trees, three trees need every host of 7, 16 and 64.
  const auto num_trees = GENERATE(2, 3);
  const auto num_hosts = GENERATE(std::size_t{7}, std::size_t{16}, std::size_t{64});
  const auto seed = GENERATE(1U, 2U, 3U);
  TestNetwork network = even_network(num_hosts, kLatency_s, kRate_Bps);
  network.latency_s = drawn_network(num_hosts, kLatency_s, kRate_Bps, seed).latency_s;
  const auto trees = grow(network, num_trees);
  for (std::size_t host = 1; host < num_hosts; ++host) {
    CHECK(num_trees_inside(trees, static_cast<std::int32_t>(host)) <= 1);
  }
}

TEST_CASE("trees: two of 64 hosts are no deeper than a binary tree below the root") {
  // 32 inner hosts in five full levels below the root, and the leaves one below them.
  for (const ParentOfHost& parents : grow(even_network(64, kLatency_s, kRate_Bps), 2)) {
    CHECK(depth(parents) <= 7);
  }
}

TEST_CASE("trees: each rack is entered once in a tree, within what the uplinks carry") {
  const auto num_trees = GENERATE(2, 3, 4);
  const TestNetwork network = racked_network(64, 4, kLatency_s, kRate_Bps, 2.0 * kRate_Bps);
  const auto trees = grow(network, num_trees);
  std::vector<double> left_Bps(network.capacity_Bps);
  for (const ParentOfHost& parents : trees) {
    CHECK(num_crossings(parents, 4) == 3);
    for (std::size_t pair = 0; pair < network.group_of_pair.size(); ++pair) {
      if (parents[static_cast<std::size_t>(network.dst_of_pair[pair])] !=
          static_cast<std::int32_t>(network.src_of_pair[pair])) {
        continue;
      }
      left_Bps[static_cast<std::size_t>(network.group_of_pair[pair])] -= kRate_Bps / num_trees;
    }
  }
  for (const double left : left_Bps) CHECK(left >= -1.0);
}

TEST_CASE("trees: edges use pairs that carry their share") {
  // With three trees a pair needs a third of the NIC; two thirds of the drawn ones carry that.
  TestNetwork network = drawn_network(48, kLatency_s, kRate_Bps, GENERATE(1U, 2U, 3U));
  for (const ParentOfHost& parents : grow(network, 3)) {
    for (std::size_t host = 0; host < parents.size(); ++host) {
      if (parents[host] == kNoHost) continue;
      CHECK(network.bandwidth(static_cast<std::size_t>(parents[host]), host) >=
            kRate_Bps / 3.0 * (1.0 - 1e-9));
    }
  }
}

TEST_CASE("trees: edges are shorter when their latency counts as a smaller share of the NIC") {
  TestNetwork network = drawn_network(48, kLatency_s, kRate_Bps, GENERATE(1U, 2U, 3U));
  const auto sum_s = [&network](double latency_sharing) {
    double sum = 0.0;
    for (const ParentOfHost& parents : grow(network, 3, Operation::bcast, latency_sharing)) {
      for (std::size_t host = 1; host < parents.size(); ++host) {
        sum += network.latency(static_cast<std::size_t>(parents[host]), host);
      }
    }
    return sum;
  };
  CHECK(sum_s(1.0) < sum_s(0.0));
}

TEST_CASE("trees: a reduce uses pairs towards the root") {
  // Towards host 0 all pairs are fast, away from it they are slow.
  TestNetwork network = even_network(4, kLatency_s, kRate_Bps);
  for (std::size_t dst = 1; dst < 4; ++dst) network.bandwidth(0, dst) = kRate_Bps / 100.0;
  const auto trees = grow(network, 1, Operation::reduce);
  CHECK(depth(trees.front()) >= 1);
  CHECK(num_children(trees, 0) == 1);
}

TEST_CASE("islands: hosts behind one uplink, in one number each") {
  const TestNetwork network = racked_network(12, 3, kLatency_s, kRate_Bps, kRate_Bps);
  const auto view = network.view();
  const auto islands = islands_of(Links(view));
  CHECK(std::set<std::int32_t>(islands.begin(), islands.end()).size() == 3);
  for (std::size_t host = 3; host < islands.size(); ++host) {
    CHECK(islands[host] == islands[host - 3]);
  }
}
