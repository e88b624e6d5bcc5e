// SPDX-License-Identifier: Apache-2.0
// When calls are looked at, when their times count as drift, and what a probe changes; no MPI, and
// the times are invented.
#include <cstdint>
#include <limits>
#include <vector>

#include "../../core/catch.hpp"
#include "collectives/network_now.hpp"
#include "collectives/watched_times.hpp"

using namespace fairlead::intercept;

namespace {

constexpr double kMaxDrift = 0.2;

/// Calls until the next agreement.
int calls_until_due(WatchedTimes& times, double call_s) {
  int calls = 0;
  while (!times.is_due()) {
    times.add(call_s);
    ++calls;
  }
  return calls;
}

}  // namespace

TEST_CASE("watching: without a prediction there is nothing to watch") {
  CHECK_FALSE(WatchedTimes(0.0, true).is_on());
}

TEST_CASE("watching: short calls are agreed on less often") {
  WatchedTimes slow(1.0, true), fast(4e-3, true);

  CHECK(calls_until_due(slow, 1.0) == 16);
  CHECK(calls_until_due(fast, 4e-3) == 100);
}

TEST_CASE("watching: agreements take at most a quarter of a percent of the calls' time") {
  WatchedTimes times(1e-3, true);
  calls_until_due(times, 1e-3);

  times.begin_window(1e-4, 1e-3);

  CHECK(calls_until_due(times, 1e-3) * 1e-3 * WatchedTimes::kMaxCostRatio >= 1e-4 * 0.999);
}

TEST_CASE("watching: only a difference beyond the ratio is drift, in both directions") {
  WatchedTimes times(1e-3, true);
  times.expect(1e-3);

  CHECK_FALSE(times.has_drifted(1.19e-3, kMaxDrift));
  CHECK_FALSE(times.has_drifted(0.85e-3, kMaxDrift));
  CHECK(times.has_drifted(1.21e-3, kMaxDrift));
  CHECK(times.has_drifted(0.8e-3, kMaxDrift));
}

TEST_CASE("watching: the first window may take twice the predicted time, which is then expected") {
  WatchedTimes times(1e-3, true);

  CHECK(times.has_drifted(2.1e-3, kMaxDrift));
  CHECK_FALSE(times.has_drifted(1.9e-3, kMaxDrift));
  CHECK(times.has_drifted(1.5e-3, kMaxDrift));
}

TEST_CASE("watching: after a probe the first window says what to expect") {
  WatchedTimes times(1e-3, false);

  CHECK_FALSE(times.has_drifted(7e-3, kMaxDrift));
  CHECK_FALSE(times.has_drifted(8e-3, kMaxDrift));
  CHECK(times.has_drifted(9e-3, kMaxDrift));
}

TEST_CASE("watching: a single slow call is no drift") {
  WatchedTimes times(1e-3, true);
  times.expect(1e-3);
  for (int call = 0; call < 20; ++call) times.add(call == 7 ? 1.0 : 1e-3);

  CHECK_FALSE(times.has_drifted(times.median_s(), kMaxDrift));
}

TEST_CASE("probing: interfaces and groups change as the median of their pairs") {
  const double infinite = std::numeric_limits<double>::infinity();
  NetworkPlan network{.names_of_host = {{"a"}, {"b"}, {"c"}}};
  network.latency_s = {0, 1, 1, 1, 0, 1, 1, 1, 0};
  network.bandwidth_Bps = {infinite, 100, 100, 100, infinite, 100, 100, 100, infinite};
  network.nic_out_Bps = {100, 100, 100};
  network.groups = {
      .group_of_pair = {0}, .src_of_pair = {0}, .dst_of_pair = {2}, .capacity_Bps = {50}};
  const ProbedPairs probed{.latency_s = {0, 2, 2, 0}, .bandwidth_Bps = {0, 10, 10, 0}};

  const std::vector<std::int32_t> hosts{0, 2};
  const NetworkPlan now = updated(network, hosts, probed);

  CHECK(now.bandwidth_Bps[2] == 10);
  CHECK(now.latency_s[2] == 2);
  CHECK(now.bandwidth_Bps[1] == 100);
  CHECK(now.groups.capacity_Bps[0] == 5);
  CHECK(now.nic_out_Bps == std::vector<double>{10, 100, 10});
}
