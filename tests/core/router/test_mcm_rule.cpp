// SPDX-License-Identifier: Apache-2.0
// Zones, transitions and open paths of the rule `mcm`, with a clock of the test's own.
#include <map>
#include <vector>

#include "catch.hpp"
#include "outboxes.hpp"
#include "relay/messenger/mcm_rule.hpp"

using namespace fairlead::intercept::relay;
using namespace fairlead::tests;
using fairlead::relay::kMaxSegmentBytes;
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t kBytes = 1 << 20;
constexpr double kRate_Bps = 1e8;

// The direct path and three relays, each a little slower than the one before.
std::vector<Route> routes(double direct_Bps = kRate_Bps) {
  return {{.hops = {1}, .latency_s = 1e-4, .bandwidth_Bps = direct_Bps},
          {.hops = {2, 1}, .latency_s = 2e-4, .bandwidth_Bps = 0.9 * kRate_Bps},
          {.hops = {3, 1}, .latency_s = 2e-4, .bandwidth_Bps = 0.8 * kRate_Bps},
          {.hops = {4, 1}, .latency_s = 2e-4, .bandwidth_Bps = 0.7 * kRate_Bps}};
}

// Whole messages, one after the other.
class Pair {
 public:
  explicit Pair(std::vector<Route> table = routes()) : rule(std::move(table), {}, 1) {}

  /// Messages that take so many times what one takes on the planned direct path.
  void send(double ratio, int num_messages) {
    for (int message = 0; message < num_messages; ++message) {
      const double seconds = ratio * (1e-4 + kBytes / kRate_Bps);
      now += duration_cast<Clock::duration>(duration<double>(seconds));
      rule.learn(Way::striped, kBytes, seconds, now);
    }
  }

  McmRule rule;
  Time now = kStart;
};

// Segments by path, all of which arrive at once.
std::map<std::size_t, double> choices(McmRule& rule, Time now, int num_segments,
                                      double direct_Bps) {
  std::vector<PathState> paths;
  for (const Route& route : routes()) {
    PathState path;
    path.route = route;
    path.rate_Bps = path.route.is_direct() ? direct_Bps : route.bandwidth_Bps;
    path.latency_s = route.latency_s;
    path.last_used = now;
    paths.push_back(path);
  }
  std::map<std::size_t, double> counts;
  for (int segment = 0; segment < num_segments; ++segment) {
    ++counts[rule.choose(paths, Way::striped, kMaxSegmentBytes, now).value()];
  }
  return counts;
}

}  // namespace

TEST_CASE("mcm: a pair begins with its direct path alone, and most messages stay with the MPI") {
  Pair pair;
  CHECK(pair.rule.num_open() == 1);
  CHECK(pair.rule.next(kBytes, pair.now) == Way::striped);
  pair.send(1.1, 1);
  CHECK(pair.rule.next(kBytes, pair.now) == Way::mpi);
  CHECK(pair.rule.next(kBytes, pair.now + McmRule::kSampleInterval) == Way::striped);
}

TEST_CASE("mcm: each transition upward opens one path, the best that is not open") {
  Pair pair;
  pair.send(1.5, 5);
  CHECK(pair.rule.zone() == Zone::low);
  CHECK(pair.rule.num_open() == 1);
  pair.send(3.0, 5);
  CHECK(pair.rule.zone() == Zone::medium);
  CHECK(pair.rule.num_open() == 2);
  CHECK(choices(pair.rule, pair.now, 100, kRate_Bps).count(1) == 1);
  pair.send(6.0, 5);
  CHECK(pair.rule.zone() == Zone::high);
  CHECK(pair.rule.num_open() == 3);
  pair.send(20.0, 5);
  CHECK(pair.rule.num_open() == 3);
}

TEST_CASE("mcm: a transition downward opens nothing, the next one upward does") {
  Pair pair;
  pair.send(6.0, 5);
  REQUIRE(pair.rule.num_open() == 2);
  pair.send(1.0, 50);
  CHECK(pair.rule.zone() == Zone::low);
  CHECK(pair.rule.num_open() == 2);
  pair.send(6.0, 5);
  CHECK(pair.rule.num_open() == 3);
}

TEST_CASE("mcm: one disturbed message is no transition") {
  Pair pair;
  pair.send(1.0, 3);
  pair.send(10.0, 1);
  pair.send(1.0, 3);
  CHECK(pair.rule.num_openings() == 0);
}

TEST_CASE("mcm: a path that would not be faster by the margin stays closed") {
  // The direct path is measured at a third of its plan; the relays are planned at a fifth.
  auto table = routes();
  for (std::size_t relay = 1; relay < table.size(); ++relay) table[relay].bandwidth_Bps = 2e7;
  Pair pair(table);
  pair.send(3.0, 10);
  CHECK(pair.rule.zone() == Zone::medium);
  CHECK(pair.rule.num_open() == 1);
}

TEST_CASE("mcm: a pair that is slow by its plan is in the high zone from its first messages") {
  Pair pair(routes(1e7));
  pair.send(10.0, 3);
  CHECK(pair.rule.zone() == Zone::high);
  CHECK(pair.rule.num_open() == 2);
}

TEST_CASE("mcm: zones begin where they are set") {
  McmRule rule(routes(), {.medium_ratio = 8.0, .high_ratio = 16.0}, 1);
  Time now = kStart;
  for (int message = 0; message < 3; ++message) {
    now += milliseconds(60);
    rule.learn(Way::striped, kBytes, 0.06, now);
  }
  CHECK(rule.zone() == Zone::low);
}

TEST_CASE("mcm: the choice among open paths is by chance, weighted by latency") {
  Pair pair;
  pair.send(6.0, 5);
  const auto even = choices(pair.rule, pair.now, 1000, 0.9 * kRate_Bps);
  CHECK(even.at(0) == Approx(500).margin(80));
  const auto uneven = choices(pair.rule, pair.now, 1000, 0.3 * kRate_Bps);
  CHECK(uneven.at(1) / uneven.at(0) == Approx(3.0).epsilon(0.3));
}

TEST_CASE("mcm: a path that carried nothing for two seconds closes") {
  Pair pair;
  pair.send(6.0, 5);
  REQUIRE(pair.rule.num_open() == 2);
  pair.now += milliseconds(2500);
  (void)pair.rule.next(kBytes, pair.now);
  CHECK(pair.rule.num_open() == 1);
  CHECK(pair.rule.zone() == Zone::low);
}

TEST_CASE("mcm: while no open path answers, the best of the others is opened") {
  MessengerSite place = site(1e9, 1e9);
  place.rule = RuleName::mcm;
  Outbox box(place, kStart);
  box.add(1, payload(100), Way::striped, kStart);
  const auto first = box.next(kStart, OwnRouter::ready);
  REQUIRE(first);
  CHECK(first->header.num_hops == 1);
  box.expire(kStart + milliseconds(400));
  const auto second = box.next(kStart + milliseconds(400), OwnRouter::ready);
  REQUIRE(second);
  CHECK(second->header.num_hops == 2);
}
