// SPDX-License-Identifier: Apache-2.0
// CMPI's hierarchy on networks small enough to work out by hand.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "collective_networks.hpp"
#include "fairlead/collectives/hierarchy.hpp"
#include "fairlead/error.hpp"

namespace {

using namespace fairlead::collectives;
using Row = std::vector<std::int32_t>;

// Times of a message without bytes are the latencies: in units of 1 ms.
TestNetwork latencies_ms(const std::vector<std::vector<double>>& rows) {
  TestNetwork network = even_network(rows.size(), 0.0, 1e9);
  for (std::size_t src = 0; src < rows.size(); ++src) {
    for (std::size_t dst = 0; dst < rows.size(); ++dst) {
      network.latency(src, dst) = rows[src][dst] * 1e-3;
    }
  }
  return network;
}

Hierarchy built(const TestNetwork& network, double factor = 4.0, std::int32_t max_span = 1) {
  const auto view = network.view();
  return build_hierarchy(view, {.message_bytes = 0.0, .factor = factor, .max_span = max_span});
}

}  // namespace

TEST_CASE("hierarchy: level l holds the values from l to l + 1 times k times the least") {
  CHECK(discrete_level(1.0, 1.0, 4.0) == 0);
  CHECK(discrete_level(3.999, 1.0, 4.0) == 0);
  CHECK(discrete_level(4.0, 1.0, 4.0) == 1);
  CHECK(discrete_level(7.999, 1.0, 4.0) == 1);
  CHECK(discrete_level(64.0, 1.0, 4.0) == 16);
  CHECK(discrete_level(5.0, 2.0, 1.0) == 2);
  // Whole but for rounding: 0.3 / 0.1 is below 3.
  CHECK(discrete_level(0.3, 0.1, 1.0) == 3);
}

TEST_CASE("hierarchy: two pairs of near hosts, then all") {
  const Hierarchy hierarchy =
      built(latencies_ms({{0, 9, 1, 9}, {9, 0, 9, 1}, {1, 9, 0, 9}, {9, 1, 9, 0}}));
  REQUIRE(hierarchy.group_of_host.size() == 2);
  CHECK(hierarchy.group_of_host[0] == Row{0, 1, 0, 1});
  CHECK(hierarchy.group_of_host[1] == Row{0, 0, 0, 0});
  CHECK(distance(hierarchy, 0, 0) == 0);
  CHECK(distance(hierarchy, 0, 2) == 1);
  CHECK(distance(hierarchy, 0, 3) == 2);
}

TEST_CASE("hierarchy: hosts are near when both directions are") {
  // 0 -> 1 takes 1 ms, but 1 -> 0 takes 9: they are no closer than any other two.
  const Hierarchy hierarchy = built(latencies_ms({{0, 1, 9}, {9, 0, 9}, {9, 9, 0}}));
  CHECK(hierarchy.group_of_host.size() == 1);
  CHECK(hierarchy.latency_asymmetry_ratio == Approx(1.0 / 3.0));
  CHECK(hierarchy.bandwidth_asymmetry_ratio == 0.0);
}

TEST_CASE("hierarchy: the boundary grows until at most half as many groups are left") {
  // Only 0 and 1 are near: three groups of four hosts are too many for a level.
  const Hierarchy hierarchy =
      built(latencies_ms({{0, 1, 5, 5}, {1, 0, 5, 5}, {5, 5, 0, 5}, {5, 5, 5, 0}}));
  CHECK(hierarchy.group_of_host.size() == 1);
}

TEST_CASE("hierarchy: a host joins the group with the fewest hosts of those it is close to") {
  // Near are all pairs but 2's to 0 and 1: 0 and 1 make a group, 2 another, and 3 may join both.
  const Hierarchy hierarchy =
      built(latencies_ms({{0, 1, 5, 1}, {1, 0, 5, 1}, {5, 5, 0, 1}, {1, 1, 1, 0}}));
  CHECK(hierarchy.group_of_host == std::vector<Row>{{0, 0, 1, 1}, {0, 0, 0, 0}});
}

TEST_CASE("hierarchy: a host is close to a group when it is to all of it") {
  // In a row of four each is near the next one only: 0 and 1, then 2, which is far from 0, and 3.
  const Hierarchy hierarchy =
      built(latencies_ms({{0, 1, 9, 9}, {1, 0, 1, 9}, {9, 1, 0, 1}, {9, 9, 1, 0}}));
  CHECK(hierarchy.group_of_host == std::vector<Row>{{0, 0, 1, 1}, {0, 0, 0, 0}});
}

TEST_CASE("hierarchy: while the span is too large a host moves to the smallest group") {
  // Hosts 0 to 3 are near each other, so are 4 and 5; of the first 2 is closest to both of these.
  TestNetwork network = even_network(6, 9e-3, 1e9);
  for (std::size_t src = 0; src < 6; ++src) {
    for (std::size_t dst = 0; dst < 6; ++dst) {
      if (src == dst) continue;
      if ((src < 4) == (dst < 4)) network.latency(src, dst) = 1e-3;
    }
  }
  for (const std::size_t near : {4U, 5U})
    network.latency(2, near) = network.latency(near, 2) = 5e-3;
  const Row all(6, 0);
  CHECK(built(network, 4.0, 2).group_of_host == std::vector<Row>{{0, 0, 0, 0, 1, 1}, all});
  CHECK(built(network, 4.0, 1).group_of_host == std::vector<Row>{{0, 0, 1, 0, 1, 1}, all});
}

TEST_CASE("hierarchy: a span of one host stays where hosts cannot be divided evenly") {
  // Two near hosts and three: no move makes them equal.
  TestNetwork network = even_network(5, 9e-3, 1e9);
  for (std::size_t src = 0; src < 5; ++src) {
    for (std::size_t dst = 0; dst < 5; ++dst) {
      if (src != dst && (src < 2) == (dst < 2)) network.latency(src, dst) = 1e-3;
    }
  }
  CHECK(built(network, 4.0, 0).group_of_host == std::vector<Row>{{0, 0, 1, 1, 1}, Row(5, 0)});
}

TEST_CASE("hierarchy: equal hosts are one group, and a tree of switches is found again") {
  CHECK(built(even_network(7, 1e-3, 1e8)).group_of_host == std::vector<Row>{Row(7, 0)});
  TestNetwork network = even_network(8, 0.0, 1e9);
  for (std::size_t src = 0; src < 8; ++src) {
    for (std::size_t dst = 0; dst < 8; ++dst) {
      if (src == dst) continue;
      network.latency(src, dst) = src / 2 == dst / 2 ? 1e-3 : src / 4 == dst / 4 ? 5e-3 : 20e-3;
    }
  }
  CHECK(built(network).group_of_host ==
        std::vector<Row>{{0, 0, 1, 1, 2, 2, 3, 3}, {0, 0, 0, 0, 1, 1, 1, 1}, Row(8, 0)});
}

TEST_CASE("hierarchy: one host is one group") {
  const Hierarchy hierarchy = built(even_network(1, 1e-3, 1e8));
  CHECK(hierarchy.group_of_host == std::vector<Row>{{0}});
  CHECK(hierarchy.latency_asymmetry_ratio == 0.0);
}

TEST_CASE("hierarchy: pairs without any latency are at level 0 for empty messages") {
  const Hierarchy hierarchy = built(latencies_ms({{0, 0, 8}, {0, 0, 8}, {8, 8, 0}}), 1.0);
  CHECK(hierarchy.level_of_pair == Row{0, 0, 1, 0, 0, 1, 1, 1, 0});
}

TEST_CASE("hierarchy: a factor or a span out of range is refused") {
  const TestNetwork network = latencies_ms({{0, 1}, {1, 0}});
  CHECK_THROWS_AS(built(network, 0.0), fairlead::InputError);
  CHECK_THROWS_AS(built(network, 4.0, -1), fairlead::InputError);
}
