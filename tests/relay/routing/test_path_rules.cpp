// SPDX-License-Identifier: Apache-2.0
// Which connections of the direct path a rule may take.
#include "routing/path_rules.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "catch.hpp"

using namespace fairlead::relay;
using namespace std::chrono_literals;

namespace {

std::vector<HostPath> direct_path() {
  return {{.hops = {1}, .latency_s = 1e-4, .bandwidth_Bps = 1e8}};
}

std::size_t num_connections(RuleName name, std::size_t num_hosts) {
  return with_connections(name, direct_path(), num_hosts).size();
}

/// The modes of so many messages of 1 MiB that each take as long as expected.
std::vector<TransferMode> ways_of(std::size_t num_hosts, int num_messages) {
  const auto paths = with_connections(RuleName::trials, direct_path(), num_hosts);
  Time now{};
  const auto rule = make_trial_rule(paths, 1e8, now, false);
  std::vector<TransferMode> modes;
  for (int message = 0; message < num_messages; ++message) {
    modes.push_back(rule->next(1 << 20, now));
    now += 10ms;
    if (modes.back() != TransferMode::mpi) rule->learn(modes.back(), 1 << 20, 0.01, now);
  }
  return modes;
}

}  // namespace

TEST_CASE("path rules: many hosts share a router's connections") {
  CHECK(num_connections(RuleName::trials, 2) == 8);
  CHECK(num_connections(RuleName::trials, 128) == 8);
  CHECK(num_connections(RuleName::trials, 256) == 4);
  CHECK(num_connections(RuleName::trials, 2000) == 1);
  CHECK(num_connections(RuleName::mcm, 2) == 1);
  CHECK(with_connections(RuleName::trials, {}, 2).empty());
}

TEST_CASE(
    "path rules: several connections are tried where there are several, also without relays") {
  CHECK(std::ranges::count(ways_of(2, 30), TransferMode::parallel) > 0);
  CHECK(std::ranges::count(ways_of(2000, 30), TransferMode::parallel) == 0);
}
