// SPDX-License-Identifier: Apache-2.0
// CMPI's hierarchy on networks small enough to work out by hand, and its rules on drawn ones.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
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

TEST_CASE("hierarchy: level l holds the values from min * k^l to min * k^(l + 1)") {
  CHECK(discrete_level(1.0, 1.0, 4.0) == 0);
  CHECK(discrete_level(3.999, 1.0, 4.0) == 0);
  CHECK(discrete_level(4.0, 1.0, 4.0) == 1);
  CHECK(discrete_level(64.0, 1.0, 4.0) == 3);
  CHECK(discrete_level(0.3, 0.1, 3.0) == 1);
}

TEST_CASE("hierarchy: two pairs of near hosts, then all") {
  const Hierarchy hierarchy =
      built(latencies_ms({{0, 9, 1, 9}, {9, 0, 9, 1}, {1, 9, 0, 9}, {9, 1, 9, 0}}));
  REQUIRE(hierarchy.group_of_host.size() == 2);
  CHECK(hierarchy.group_of_host[0] == Row{0, 1, 0, 1});
  CHECK(hierarchy.group_of_host[1] == Row{0, 0, 0, 0});
}

TEST_CASE("hierarchy: hosts are near when both directions are") {
  // 0 -> 1 takes 1 ms, but 1 -> 0 takes 9: they are no closer than any other two.
  const Hierarchy hierarchy = built(latencies_ms({{0, 1, 9}, {9, 0, 9}, {9, 9, 0}}));
  CHECK(hierarchy.group_of_host.size() == 1);
  CHECK(hierarchy.asymmetry_ratio == Approx(1.0 / 3.0));
}

TEST_CASE("hierarchy: a level with more than half the groups of the one below is left out") {
  // Only 0 and 1 are near: three groups of four hosts are too many for a level.
  const Hierarchy hierarchy =
      built(latencies_ms({{0, 1, 5, 5}, {1, 0, 5, 5}, {5, 5, 0, 5}, {5, 5, 5, 0}}));
  CHECK(hierarchy.group_of_host.size() == 1);
}

TEST_CASE("hierarchy: the smallest group merges first, with the smallest that it may") {
  // Near are 0-1, 0-3, 1-3 and 2-3. Once {0, 1} is there, 3 joins the smaller 2, not the pair.
  // Groups in any other order would give {0, 1, 3} and leave 2 alone.
  const Hierarchy hierarchy =
      built(latencies_ms({{0, 1, 5, 1}, {1, 0, 5, 1}, {5, 5, 0, 1}, {1, 1, 1, 0}}));
  CHECK(hierarchy.group_of_host == std::vector<Row>{{0, 0, 1, 1}, {0, 0, 0, 0}});
}

TEST_CASE("hierarchy: the span keeps pairs apart that differ by more levels") {
  // Pairs of 1 ms; two of them are 5 ms apart (level 1), and two such groups 20 ms (level 2).
  TestNetwork network = even_network(8, 0.0, 1e9);
  for (std::size_t src = 0; src < 8; ++src) {
    for (std::size_t dst = 0; dst < 8; ++dst) {
      if (src == dst) continue;
      network.latency(src, dst) = src / 2 == dst / 2 ? 1e-3 : src / 4 == dst / 4 ? 5e-3 : 20e-3;
    }
  }
  const Row pairs{0, 0, 1, 1, 2, 2, 3, 3};
  const Row halves{0, 0, 0, 0, 1, 1, 1, 1};
  const Row all(8, 0);
  CHECK(built(network, 4.0, 0).group_of_host == std::vector<Row>{pairs, all});
  CHECK(built(network, 4.0, 1).group_of_host == std::vector<Row>{pairs, halves, all});
}

TEST_CASE("hierarchy: hosts of one rack are near where the uplink is shared") {
  // One flow crosses as fast as inside a rack; eight at once get an eighth each.
  const TestNetwork network = racked_network(16, 2, 0.0, 1e8, 1e8);
  const auto view = network.view();
  const Hierarchy hierarchy = build_hierarchy(view, {.message_bytes = 1e6});
  REQUIRE(hierarchy.group_of_host.size() == 2);
  for (std::size_t host = 0; host < 16; ++host) {
    CHECK(hierarchy.group_of_host[0][host] == static_cast<std::int32_t>(host % 2));
  }
}

TEST_CASE("hierarchy: levels nest, halve, and end in one group") {
  const TestNetwork network = drawn_network(40, 1e-4, 1e8, GENERATE(1U, 2U, 3U, 4U));
  const auto view = network.view();
  const Hierarchy hierarchy = build_hierarchy(view, {.message_bytes = 1e5, .factor = 1.3});
  std::size_t num_below = 40;
  Row below(40);
  for (std::size_t host = 0; host < 40; ++host) below[host] = static_cast<std::int32_t>(host);
  CHECK(hierarchy.group_of_host.size() <= static_cast<std::size_t>(std::log2(40.0)));
  for (const Row& level : hierarchy.group_of_host) {
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::size_t host = 0; host < 40; ++host) pairs.insert({below[host], level[host]});
    CHECK(pairs.size() == num_below);
    num_below = std::set<std::int32_t>(level.begin(), level.end()).size();
    CHECK(2 * num_below <= pairs.size());
    below = level;
  }
  CHECK(num_below == 1);
}

TEST_CASE("hierarchy: a factor that separates nothing is refused") {
  CHECK_THROWS_AS(built(latencies_ms({{0, 1}, {1, 0}}), 1.0), fairlead::InputError);
}
