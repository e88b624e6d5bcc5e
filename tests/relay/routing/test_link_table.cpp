// SPDX-License-Identifier: Apache-2.0
// MCM's table of source-destination latencies.
#include "routing/link_table.hpp"

#include <array>
#include <vector>

#include "catch.hpp"

using namespace fairlead::relay;

namespace {

// Milliseconds of MCM's section 4: the ping-pong of node 0 to node 1, and its two legs by node 7,
// which together take 867.081 (the paper gives one number for both; it is divided here).
std::vector<std::vector<double>> paper_s() {
  std::vector table(8, std::vector(8, 2.0));
  table[0][1] = 0.993456;
  table[0][7] = 0.4;
  table[7][1] = 0.467081;
  return table;
}

}  // namespace

TEST_CASE("link table: a path takes what its hops take together, as in the paper's example") {
  const LinkTable table(paper_s());
  const std::array<std::uint16_t, 1> direct{1};
  const std::array<std::uint16_t, 2> relayed{7, 1};
  CHECK(table.path_s(0, direct) == Approx(0.993456));
  CHECK(table.path_s(0, relayed) == Approx(0.867081));
  // "around 12,7%"
  CHECK(1.0 - table.path_s(0, relayed) / table.path_s(0, direct) == Approx(0.1272).margin(5e-5));
}

TEST_CASE("link table: each hop of a path gets its own time, which counts for all paths by it") {
  LinkTable table(paper_s());
  const std::array<std::uint16_t, 2> relayed{7, 1};
  table.learn(0, relayed, std::array{0.1, 0.2});
  const std::array<std::uint16_t, 2> other{7, 3};
  CHECK(table.path_s(0, relayed) == Approx(0.3));
  CHECK(table.path_s(0, other) == Approx(0.1 + 2.0));
  // A later one has a quarter of the weight.
  table.learn(0, relayed, std::array{0.5, 0.2});
  CHECK(table.path_s(0, other) == Approx(0.2 + 2.0));
}

TEST_CASE("link table: only measured links are listed") {
  LinkTable table(paper_s());
  CHECK(table.measured().empty());
  const std::array<std::uint16_t, 2> relayed{7, 1};
  table.learn(0, relayed, std::array{0.1, 0.2});
  const auto found = table.measured();
  REQUIRE(found.size() == 2);
  CHECK(found[0].src == 0);
  CHECK(found[0].dst == 7);
  CHECK(found[1].latency_s == Approx(0.2));
}

TEST_CASE("link table: one without hosts learns nothing") {
  LinkTable table;
  table.learn(0, std::array<std::uint16_t, 1>{1}, std::array{0.1});
  CHECK(table.is_empty());
}
