// SPDX-License-Identifier: Apache-2.0
// The rule `mcm`, sentence by sentence of MCM's sections 2 and 2.1, with a clock of the test's own.
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "routing/mcm_rule.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using fairlead::relay::kMaxSegmentBytes;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t kBytes = 1 << 20;
constexpr double kRate_Bps = 1e8;

// Host 0 sends to host 1, directly or by one of three relays, whose legs are planned at 1, 2 and 3
// ms for a segment; the direct link at 1 ms.
std::vector<HostPath> planned_paths() {
  std::vector<HostPath> found{{.hops = {1}, .latency_s = 1e-4, .bandwidth_Bps = kRate_Bps}};
  for (const std::uint16_t relay : std::vector<std::uint16_t>{2, 3, 4}) {
    found.push_back({.hops = {relay, 1}, .latency_s = 2e-4, .bandwidth_Bps = 0.9 * kRate_Bps});
  }
  return found;
}

std::vector<std::vector<double>> planned_links() {
  auto planned = links(5, 1.0);
  planned[0][1] = 1e-3;
  for (const std::uint16_t relay : std::vector<std::uint16_t>{2, 3, 4}) {
    planned[0][relay] = planned[relay][1] = (relay - 1) * 1e-3;
  }
  return planned;
}

// Whole messages, one after the other.
class Pair {
 public:
  explicit Pair(std::vector<HostPath> table = planned_paths())
      : links(std::make_shared<LinkTable>(planned_links())),
        rule(table, {}, links, 0, 1),
        paths(states(table)) {}

  /// Messages that take so many times what one takes without load.
  void send(double ratio, int num_messages = 1) {
    for (int message = 0; message < num_messages; ++message) {
      const double seconds = ratio * (1e-4 + kBytes / kRate_Bps);
      rule.learn(TransferMode::striped, kBytes, seconds, now);
    }
  }
  /// What acks show of the direct link.
  void measure_direct(double segment_s) {
    const std::vector<std::uint16_t> hops{1};
    for (int segment = 0; segment < 50; ++segment) links->learn(0, hops, {{segment_s}});
  }
  /// The path of a message, which all its segments take.
  std::size_t path_of_message() {
    std::optional<std::size_t> taken;
    const auto first = rule.choose(paths, TransferMode::striped, kMaxSegmentBytes, now, taken);
    for (int segment = 1; segment < 16; ++segment) {
      CHECK(rule.choose(paths, TransferMode::striped, kMaxSegmentBytes, now, taken) == first);
    }
    return first.value();
  }
  std::map<std::size_t, double> paths_of_messages(int num_messages) {
    std::map<std::size_t, double> counts;
    for (int message = 0; message < num_messages; ++message) ++counts[path_of_message()];
    return counts;
  }

  static std::vector<PathState> states(const std::vector<HostPath>& table) {
    std::vector<PathState> found;
    for (const HostPath& path : table) found.push_back(PathState::by(path, kStart));
    return found;
  }

  Time now = kStart;
  std::shared_ptr<LinkTable> links;
  McmRule rule;
  std::vector<PathState> paths;
};

// A pair whose direct link takes ten times what was planned, as acks have shown.
Pair slow_pair() {
  Pair pair;
  pair.send(1.0, 2);
  pair.measure_direct(10e-3);
  return pair;
}

}  // namespace

TEST_CASE("mcm: the first message goes by the best path of the table, by routers") {
  Pair direct;
  CHECK(direct.rule.next(kBytes, direct.now) == TransferMode::striped);
  CHECK(direct.path_of_message() == 0);
  // As another process has found before the send queue began.
  auto planned = planned_links();
  planned[0][1] = 3e-3;
  McmRule rule(planned_paths(), {}, std::make_shared<LinkTable>(planned), 0, 1);
  CHECK(rule.standard_path() == 1);
}

TEST_CASE("mcm: while latency is acceptable all messages take the standard path") {
  Pair pair;
  pair.send(1.5, 20);
  CHECK(pair.rule.zone() == Zone::low);
  CHECK(pair.paths_of_messages(100) == std::map<std::size_t, double>{{0, 100.0}});
}

TEST_CASE("mcm: a communication is controlled from its first repetition on") {
  Pair pair;
  pair.send(20.0);
  CHECK(pair.rule.zone() == Zone::low);
  pair.send(20.0);
  CHECK(pair.rule.zone() == Zone::high);
}

TEST_CASE("mcm: a transition to medium searches a path, and does not open it") {
  Pair pair = slow_pair();
  pair.send(3.0);
  CHECK(pair.rule.zone() == Zone::medium);
  CHECK(pair.rule.uses()[1] == PathUse::found);
  CHECK(pair.paths_of_messages(100) == std::map<std::size_t, double>{{0, 100.0}});
  // No transition, no search.
  pair.send(3.5, 10);
  CHECK(pair.rule.uses()[2] == PathUse::none);
}

TEST_CASE("mcm: a transition to high searches one more, and opens both") {
  Pair pair = slow_pair();
  pair.send(3.0);
  pair.send(6.0);
  CHECK(pair.rule.zone() == Zone::high);
  const std::vector expected{PathUse::standard, PathUse::open, PathUse::open, PathUse::none};
  CHECK(pair.rule.uses() == expected);
  pair.send(20.0, 10);
  CHECK(pair.rule.uses() == expected);
}

TEST_CASE("mcm: from low to high at once is one transition") {
  Pair pair = slow_pair();
  pair.send(6.0);
  CHECK(pair.rule.uses() ==
        std::vector{PathUse::standard, PathUse::open, PathUse::none, PathUse::none});
}

TEST_CASE("mcm: a transition downward searches nothing, the next one upward does") {
  Pair pair = slow_pair();
  pair.send(6.0);
  pair.send(3.0);
  pair.send(1.0);
  CHECK(pair.rule.uses()[2] == PathUse::none);
  // By the first relay, since it is the standard path now, messages become slow as well.
  const std::vector<std::uint16_t> hops{2, 1};
  for (int segment = 0; segment < 50; ++segment) pair.links->learn(0, hops, {{5e-3, 5e-3}});
  pair.send(6.0);
  CHECK(pair.rule.uses()[2] == PathUse::open);
}

TEST_CASE("mcm: it is mandatory that the new path has lower latency") {
  // Messages are slow, and the link is not: 1.9 ms are below the 2 ms of the best relay's legs.
  Pair pair;
  pair.send(1.0, 2);
  pair.measure_direct(1.9e-3);
  pair.send(20.0);
  CHECK(pair.rule.zone() == Zone::high);
  CHECK(pair.rule.uses()[1] == PathUse::none);
  CHECK(pair.path_of_message() == 0);
}

TEST_CASE("mcm: in the zone high the selection is by chance, in proportion to 1 / latency") {
  Pair pair = slow_pair();
  pair.send(6.0);
  // 10 ms directly, 2 ms by the relay: 1 to 5.
  const auto counts = pair.paths_of_messages(1200);
  CHECK(counts.at(0) == Approx(200).margin(45));
  CHECK(counts.at(1) == Approx(1000).margin(45));
  CHECK(counts.size() == 2);
}

TEST_CASE("mcm: when latency is acceptable again the best open path is the standard one") {
  Pair pair = slow_pair();
  pair.send(6.0);
  pair.send(1.2);
  CHECK(pair.rule.standard_path() == 1);
  CHECK(pair.paths_of_messages(100) == std::map<std::size_t, double>{{1, 100.0}});
}

TEST_CASE("mcm: zones begin where they are set") {
  McmRule rule(planned_paths(), {.medium_ratio = 8.0, .high_ratio = 16.0},
               std::make_shared<LinkTable>(planned_links()), 0, 1);
  for (int message = 0; message < 3; ++message) {
    rule.learn(TransferMode::striped, kBytes, 0.06, kStart);
  }
  CHECK(rule.zone() == Zone::low);
}

TEST_CASE("mcm: a pair begins as an earlier run has left it") {
  auto table = planned_paths();
  table[2].use = PathUse::standard;
  table[3].use = PathUse::open;
  Pair pair(table);
  CHECK(pair.path_of_message() == 2);
  CHECK(pair.rule.uses() ==
        std::vector{PathUse::none, PathUse::none, PathUse::standard, PathUse::open});
}

TEST_CASE("mcm: while no path in use answers, the best of the others is opened") {
  EndpointConfig place = config(1e9, 1e9);
  place.rule = RuleName::mcm;
  SendBuffer buffer(place, kStart);
  buffer.add(1, payload(100), TransferMode::striped, kStart);
  const auto first = buffer.next(kStart, OwnRouter::ready);
  REQUIRE(first);
  CHECK(first->header.num_hops == 1);
  buffer.expire(kStart + milliseconds(400));
  const auto second = buffer.next(kStart + milliseconds(400), OwnRouter::ready);
  REQUIRE(second);
  CHECK(second->header.num_hops == 2);
}

TEST_CASE("mcm: what acks show of hops goes into the table, without the own queue") {
  EndpointConfig place = config(1e9, 1e9);
  place.rule = RuleName::mcm;
  SendBuffer buffer(place, kStart);
  buffer.add(1, payload(2 * kMaxSegmentBytes), TransferMode::striped, kStart);
  const auto first = buffer.next(kStart, OwnRouter::ready);
  const auto second = buffer.next(kStart, OwnRouter::ready);
  REQUIRE(second);
  buffer.acknowledge(ack(*first, {0.004}), kStart + milliseconds(4));
  REQUIRE(buffer.links().measured().size() == 1);
  CHECK(buffer.links().measured().front().latency_s == Approx(0.004));
  // It waited for the first one: half of its 8 ms are its own.
  buffer.acknowledge(ack(*second, {0.008}), kStart + milliseconds(8));
  CHECK(buffer.links().measured().front().latency_s == Approx(0.004));
}

TEST_CASE("mcm: a message that waits for space does not hold up one on another path") {
  EndpointConfig place = config(1e9, 1e9);
  place.rule = RuleName::mcm;
  place.paths_of_host[1][0].use = PathUse::standard;
  place.paths_of_host[1][1].use = PathUse::open;
  SendBuffer buffer(place, kStart);
  // Two slow messages, so that both paths are taken.
  for (int message = 0; message < 2; ++message) {
    buffer.add(1, payload(kMaxSegmentBytes), TransferMode::striped, kStart);
    const auto departure = buffer.next(kStart, OwnRouter::ready);
    REQUIRE(departure);
    buffer.acknowledge(ack(*departure), kStart + milliseconds(200));
  }
  constexpr std::size_t kLarge = std::size_t{64} * kMaxSegmentBytes;
  for (int message = 0; message < 16; ++message) {
    buffer.match(1, buffer.add(1, payload(kLarge), TransferMode::striped, kStart));
  }
  while (buffer.next(kStart, OwnRouter::ready)) {
  }
  for (const std::size_t path : {0U, 1U}) {
    CHECK(buffer.paths_to(1)[path].in_flight_bytes > 0);
    CHECK(buffer.paths_to(1)[path].in_flight_bytes < kLarge);
  }
}
