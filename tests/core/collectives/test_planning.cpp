// SPDX-License-Identifier: Apache-2.0
// Planning: every method makes schedules that can be followed, none is predicted below the bound.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "collective_networks.hpp"
#include "fairlead/collectives/planning.hpp"
#include "fairlead/error.hpp"

namespace {

using namespace fairlead::collectives;
using enum Operation;

constexpr double kRate_Bps = 1e8;
constexpr double kLatency_s = 1e-4;
constexpr std::array kAll{bcast,     reduce,         gather,   scatter, allgather,
                          allreduce, reduce_scatter, alltoall, barrier};

Request request_of(Operation operation, std::uint64_t bytes, std::int32_t root = 0) {
  return {.operation = operation,
          .root = has_root(operation) ? root : kNoHost,
          .message_bytes = operation == barrier ? 0 : bytes};
}

// Hosts 0 to 2 are near each other, and so are 3 to 5. By k = 1, in levels of 1 ms, the sums of a
// group's links are 7, 3 and 2 towards its hosts, 2, 3 and 7 from them, and 9, 6 and 9 both ways.
TestNetwork two_uneven_groups() {
  const std::array<std::array<double, 3>, 3> near_ms{
      {{0.0, 1.0, 1.1}, {2.5, 0.0, 1.1}, {5.5, 2.5, 0.0}}};
  TestNetwork network = even_network(6, 20e-3, 1e12);
  for (std::size_t src = 0; src < 3; ++src) {
    for (std::size_t dst = 0; dst < 3; ++dst) {
      network.latency(src, dst) = near_ms[src][dst] * 1e-3;
      network.latency(src + 3, dst + 3) = near_ms[src][dst] * 1e-3;
    }
  }
  return network;
}

/// Only whoever leads a group has a place in it.
std::vector<std::vector<Group>> sorted_behind_leaders(std::vector<std::vector<Group>> levels) {
  for (std::vector<Group>& level : levels) {
    for (Group& group : level) std::sort(group.begin() + 1, group.end());
    std::sort(level.begin(), level.end());
  }
  return levels;
}

}  // namespace

TEST_CASE("planning: every method makes valid schedules not faster than the bound") {
  const auto num_hosts = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{5}, std::size_t{12});
  const auto bytes = GENERATE(std::uint64_t{1}, std::uint64_t{5000}, std::uint64_t{1'000'000});
  const TestNetwork network =
      GENERATE_COPY(even_network(num_hosts, kLatency_s, kRate_Bps),
                    drawn_network(num_hosts, kLatency_s, kRate_Bps, 1),
                    racked_network(num_hosts, 2, kLatency_s, kRate_Bps, 1.5 * kRate_Bps));
  const auto view = network.view();
  for (const Operation operation : kAll) {
    for (const Method& method : methods()) {
      if (!method.is_for(operation)) continue;
      const std::int32_t root = static_cast<std::int32_t>(num_hosts) - 1;
      const Schedule schedule = plan(view, request_of(operation, bytes, root), method.name);
      CAPTURE(std::string(name_of(operation)), std::string(method.name), num_hosts, bytes);
      CHECK_NOTHROW(check(schedule));
      CHECK(schedule.predicted_s >= schedule.lower_bound_s * (1.0 - 2e-3));
    }
  }
}

TEST_CASE("planning: a single host has nothing to send") {
  const TestNetwork network = even_network(1, 0.0, kRate_Bps);
  const auto view = network.view();
  for (const Operation operation : kAll) {
    const Schedule schedule = plan(view, request_of(operation, 1000), "fastest");
    CHECK_NOTHROW(check(schedule));
    CHECK(schedule.predicted_s == 0.0);
  }
}

TEST_CASE("planning: the fastest is none slower than any method") {
  const TestNetwork network = drawn_network(12, kLatency_s, kRate_Bps, 7);
  const auto view = network.view();
  for (const Operation operation : kAll) {
    const Request request = request_of(operation, 100'000);
    const double fastest_s = plan(view, request, "fastest").predicted_s;
    for (const Method& method : methods()) {
      if (!method.is_for(operation) || !method.variant_of.empty()) continue;
      CHECK(fastest_s <= plan(view, request, method.name).predicted_s);
    }
  }
}

TEST_CASE("planning: long messages between uneven pairs come near to the bound") {
  const auto operation = GENERATE(bcast, reduce);
  const TestNetwork network = drawn_network(64, 1.5e-4, 1.25e8, 3);
  const Schedule schedule = plan(network.view(), request_of(operation, 8'388'608), "forest");
  CAPTURE(std::string(name_of(operation)));
  CHECK(schedule.predicted_s < 1.25 * schedule.lower_bound_s);
}

TEST_CASE("planning: blocks of slow pairs do not end long after those of the others") {
  const Operation operation = GENERATE(gather, scatter);
  const TestNetwork network = drawn_network(32, kLatency_s, kRate_Bps, GENERATE(1U, 2U, 3U));
  const auto view = network.view();
  const Schedule schedule = plan(view, request_of(operation, 1'000'000), "linear");
  CHECK(schedule.predicted_s <= 1.005 * schedule.lower_bound_s);
}

TEST_CASE("planning: segments of a fixed size are none shorter, and less than twice as long") {
  const Operation operation = GENERATE(bcast, reduce, allreduce);
  const auto bytes = GENERATE(std::uint64_t{100'000}, std::uint64_t{8'388'608});
  const TestNetwork network = racked_network(12, 2, kLatency_s, kRate_Bps, 1.5 * kRate_Bps);
  for (const auto& [name, segment_bytes] :
       {std::pair{"forest_8k", 8192.0}, {"forest_64k", 65536.0}, {"pipeline_64k", 65536.0}}) {
    const Schedule schedule = plan(network.view(), request_of(operation, bytes), name);
    CAPTURE(std::string(name_of(operation)), bytes, name, schedule.trees.size());
    CHECK(schedule.message_bytes == bytes);
    for (const Segment& segment : schedule.segments) {
      const double length = segment.share_ratio * static_cast<double>(bytes);
      CHECK(length >=
            std::min(segment_bytes, length * static_cast<double>(schedule.segments.size())) *
                (1 - 1e-9));
      CHECK(length < 2.0 * segment_bytes);
    }
  }
}

TEST_CASE("planning: of very long messages no more segments are planned than can be simulated") {
  const TestNetwork network = even_network(12, kLatency_s, kRate_Bps);
  for (const Operation operation : {bcast, allreduce}) {
    const Schedule schedule =
        plan(network.view(), request_of(operation, std::uint64_t{1} << 31U), "forest_8k");
    CHECK(schedule.segments.size() <= 8192);
    CHECK(schedule.segments.size() > 1000);
  }
}

TEST_CASE("planning: a long message by fixed segments is predicted whole") {
  const TestNetwork network = racked_network(12, 2, kLatency_s, kRate_Bps, 1.5 * kRate_Bps);
  const Schedule schedule = plan(network.view(), request_of(bcast, 33'554'432), "forest_64k");
  CHECK(schedule.predicted_s >= schedule.lower_bound_s);
  CHECK(schedule.predicted_s < 1.2 * schedule.lower_bound_s);
}

TEST_CASE("planning: long blocks that cross between racks once come to the bound") {
  const Operation operation = GENERATE(allgather, reduce_scatter, allreduce);
  const TestNetwork network = racked_network(64, 4, 5e-5, 1.25e8, 2.5e8);
  const std::uint64_t bytes = operation == allreduce ? 8'388'608 : 131'072;
  const Schedule schedule = plan(network.view(), request_of(operation, bytes), "two_level");
  CHECK(schedule.form == Form::two_level);
  CHECK(schedule.predicted_s < 1.02 * schedule.lower_bound_s);
}

TEST_CASE("planning: where nothing is shared two levels are one") {
  const TestNetwork network = drawn_network(12, kLatency_s, kRate_Bps, 7);
  const Schedule schedule = plan(network.view(), request_of(allgather, 1000), "two_level");
  CHECK(schedule.form == Form::linear);
}

TEST_CASE("planning: CMPI's leaders have the least sum of inbound links, the root leads anywhere") {
  // The root has neither the least sum of any kind nor the lowest number of its group.
  const TestNetwork network = two_uneven_groups();
  Request request = request_of(GENERATE(bcast, reduce), 1, 4);
  request.hierarchy_factor = 1.0;
  const Schedule schedule = plan(network.view(), request, "cmpi");
  REQUIRE(schedule.form == Form::levels);
  CHECK(sorted_behind_leaders(schedule.levels) ==
        std::vector<std::vector<Group>>{{{4, 2}}, {{2, 0, 1}, {4, 3, 5}}});
}

TEST_CASE("planning: CMPI's tree begins near the root and goes on by distance") {
  // 4 gets one subtree of 3 and 5, whose best link to it is that of 3; then one of 0 to 2 for each
  // of the three.
  const TestNetwork network = two_uneven_groups();
  Request request = request_of(gather, 1, 4);
  request.hierarchy_factor = 1.0;
  const Schedule schedule = plan(network.view(), request, "cmpi");
  REQUIRE(schedule.form == Form::split_tree);
  CHECK(schedule.trees == std::vector<ParentOfHost>{{4, 3, 5, 4, kNoHost, 3}});
}

TEST_CASE("planning: in a tree of leaders the host with the least sum both ways is the parent") {
  // 1 is the leader of 0 to 2, the root that of 3 to 5.
  const TestNetwork network = two_uneven_groups();
  const Schedule schedule =
      plan(network.view(), request_of(GENERATE(gather, scatter), 1, 5), "leader_tree");
  REQUIRE(schedule.form == Form::split_tree);
  CHECK(schedule.trees == std::vector<ParentOfHost>{{1, 5, 1, 5, 5, kNoHost}});
}

TEST_CASE("planning: a tree of leaders crosses a shared uplink once for each rack") {
  // One flow crosses as fast as inside a rack; eight at once get an eighth each.
  const TestNetwork network = racked_network(16, 2, 0.0, 1e8, 1e8);
  const Schedule schedule =
      plan(network.view(), request_of(GENERATE(gather, scatter), 1'000'000, 0), "leader_tree");
  const ParentOfHost& tree = schedule.trees[0];
  std::size_t num_crossing = 0;
  for (std::size_t host = 1; host < 16; ++host) {
    if (static_cast<std::size_t>(tree[host]) % 2 != host % 2) ++num_crossing;
  }
  CHECK(num_crossing == 1);
}

TEST_CASE("planning: an unknown method, another operation's, and a root out of range are refused") {
  const TestNetwork network = even_network(4, kLatency_s, kRate_Bps);
  const auto view = network.view();
  CHECK_THROWS_AS(plan(view, request_of(bcast, 1), "nothing"), fairlead::InputError);
  CHECK_THROWS_AS(plan(view, request_of(alltoall, 1), "forest"), fairlead::InputError);
  CHECK_THROWS_AS(plan(view, request_of(bcast, 1, 4), "forest"), fairlead::InputError);
}

TEST_CASE("planning: an unmeasured pair is refused") {
  TestNetwork network = even_network(3, kLatency_s, kRate_Bps);
  network.latency(1, 2) = std::numeric_limits<double>::quiet_NaN();
  const auto view = network.view();
  CHECK_THROWS_AS(plan(view, request_of(bcast, 1), "forest"), fairlead::TopologyError);
}

TEST_CASE("lower bound: uplinks that all must cross count") {
  // 12 blocks of 1 MB leave a rack of 4 hosts for each of 8 others: 32 MB through its uplink.
  const TestNetwork network = racked_network(12, 3, 0.0, kRate_Bps, kRate_Bps / 2.0);
  const auto view = network.view();
  CHECK(lower_bound_s(view, request_of(alltoall, 1'000'000)) == Approx(32e6 / 5e7));
  // Each rack's four blocks cross once.
  CHECK(lower_bound_s(view, request_of(allgather, 1'000'000)) == Approx(8e6 / 5e7));
  CHECK(lower_bound_s(view, request_of(bcast, 1'000'000)) == Approx(1e6 / 5e7));
  CHECK(lower_bound_s(view, request_of(scatter, 1'000'000)) == Approx(8e6 / 5e7));
}
