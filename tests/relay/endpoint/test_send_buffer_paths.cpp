// SPDX-License-Identifier: Apache-2.0
// By which paths segments go, with a clock of the test's own.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "catch.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using fairlead::relay::FrameHeader;
using fairlead::relay::kMaxSegmentBytes;
using std::chrono::milliseconds;

namespace {

// Sends all that is in the buffer over two paths with these real rates; bytes by number of hops.
std::map<int, double> share_of_paths(SendBuffer& buffer, double direct_Bps, double relayed_Bps) {
  std::multimap<Time, Departure> arrivals;
  std::map<int, Time> free_at{{1, kStart}, {2, kStart}};
  std::map<int, double> share;
  Time now = kStart;
  while (!buffer.is_empty()) {
    while (auto departure = buffer.next(now, OwnRouter::ready)) {
      const int hops = departure->header.num_hops;
      const double rate_Bps = hops == 1 ? direct_Bps : relayed_Bps;
      const double bytes = departure->header.segment_bytes;
      share[hops] += bytes;
      free_at[hops] = std::max(now, free_at[hops]) +
                      std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * bytes / rate_Bps));
      arrivals.emplace(free_at[hops], *departure);
    }
    REQUIRE_FALSE(arrivals.empty());
    now = arrivals.begin()->first;
    buffer.acknowledge(ack(arrivals.begin()->second), now);
    arrivals.erase(arrivals.begin());
  }
  return share;
}

}  // namespace

TEST_CASE("send buffer: stripes are in proportion to the rates of the paths") {
  SendBuffer buffer(config(1e8, 3e8), kStart);
  buffer.add(1, payload(16 << 20), TransferMode::striped, kStart);
  const auto share = share_of_paths(buffer, 1e8, 3e8);
  CHECK(share.at(2) / share.at(1) == Approx(3.0).epsilon(0.15));
}

TEST_CASE("send buffer: a path that has become slower than planned gets a smaller share") {
  // The plan says 300 MB/s for both; the direct path has a tenth of it.
  SendBuffer buffer(config(3e8, 3e8), kStart);
  buffer.add(1, payload(16 << 20), TransferMode::striped, kStart);
  const auto share = share_of_paths(buffer, 3e7, 3e8);
  CHECK(share.at(1) < 0.2 * share.at(2));
}

TEST_CASE(
    "send buffer: a slow path that was idle is given one segment, not its share by the plan") {
  SendBuffer buffer(config(3e8, 3e8), kStart);
  buffer.add(1, payload(16 << 20), TransferMode::striped, kStart);
  share_of_paths(buffer, 3e6, 3e8);
  buffer.match(1, 1);
  const Time later = kStart + std::chrono::seconds(60);
  buffer.add(1, payload(5 * kMaxSegmentBytes), TransferMode::striped, later);
  int num_direct = 0;
  while (auto departure = buffer.next(later, OwnRouter::ready)) {
    if (departure->header.num_hops == 1) ++num_direct;
  }
  CHECK(num_direct == 1);
}

TEST_CASE(
    "send buffer: in the parallel mode every connection of the direct path is used, and no relay") {
  SendBuffer buffer(config(1e8, 3e8), kStart);
  buffer.add(1, payload(16 * kMaxSegmentBytes), TransferMode::parallel, kStart);
  std::map<int, int> num_segments;
  while (auto departure = buffer.next(kStart, OwnRouter::ready)) {
    CHECK(departure->header.num_hops == 1);
    ++num_segments[departure->header.connection];
  }
  CHECK(num_segments.size() == fairlead::relay::kMaxConnections);
  CHECK(num_segments[0] == 2);
}

TEST_CASE(
    "send buffer: in the relayed mode the best relay alone is used, and another one if it fails") {
  EndpointConfig place = config(1e9, 3e8);
  // By another host, slower.
  place.paths_of_host[1].push_back({{3, 1}, 2e-4, 1e8});
  SendBuffer buffer(place, kStart);
  buffer.add(1, payload(12 * kMaxSegmentBytes), TransferMode::relayed, kStart);
  const auto relays = [&buffer](Time now) {
    std::set<std::uint16_t> seen;
    while (auto departure = buffer.next(now, OwnRouter::ready)) {
      REQUIRE(departure->header.num_hops == 2);
      seen.insert(departure->header.hops[0]);
    }
    return seen;
  };
  CHECK(relays(kStart) == std::set<std::uint16_t>{2});
  // Nothing comes back.
  const Time later = kStart + std::chrono::seconds(1);
  buffer.expire(later);
  CHECK(relays(later) == std::set<std::uint16_t>{3});
}

TEST_CASE(
    "send buffer: of relays that are alike one takes all of a message, though slower than "
    "planned") {
  EndpointConfig place = config(1e9, 1e8);
  place.paths_of_host[1].push_back({{3, 1}, 2e-4, 1e8});
  SendBuffer buffer(place, kStart);
  buffer.add(1, payload(24 * kMaxSegmentBytes), TransferMode::relayed, kStart);
  std::deque<Departure> on_their_way;
  std::set<std::uint16_t> relays;
  for (Time now = kStart; !buffer.is_empty();) {
    while (auto departure = buffer.next(now, OwnRouter::ready)) {
      relays.insert(departure->header.hops[0]);
      on_their_way.push_back(*departure);
    }
    REQUIRE_FALSE(on_their_way.empty());
    // At half of the planned rate.
    now += std::chrono::microseconds(1300);
    buffer.acknowledge(ack(on_their_way.front()), now);
    on_their_way.pop_front();
  }
  CHECK(relays.size() == 1);
}

TEST_CASE(
    "send buffer: where no relay answers, a message in the relayed mode shows nothing of relays") {
  SendBuffer buffer(config(2e7, 1e8), kStart);
  REQUIRE(buffer.is_striping_worth(1, 1 << 20));
  buffer.add(1, payload(1 << 20), TransferMode::relayed, kStart);
  while (buffer.next(kStart, OwnRouter::ready)) continue;
  const Time later = kStart + std::chrono::seconds(1);
  buffer.expire(later);
  Time now = later;
  while (!buffer.is_empty()) {
    const auto departure = buffer.next(now, OwnRouter::ready);
    REQUIRE(departure);
    CHECK(departure->header.num_hops == 1);
    now += milliseconds(3);
    buffer.acknowledge(ack(*departure), now);
  }
  CHECK(buffer.is_striping_worth(1, 1 << 20));
}

TEST_CASE("send buffer: a relay that was slow and idle gets one segment, by which it may recover") {
  EndpointConfig place = config(1e9, 3e8);
  place.paths_of_host[1].push_back({{3, 1}, 2e-4, 1e8});
  SendBuffer buffer(place, kStart);
  // The best relay has a hundredth of its rate.
  Time now = kStart;
  const auto share_of_best = [&buffer, &now](std::size_t num_segments) {
    buffer.add(1, payload(num_segments * kMaxSegmentBytes), TransferMode::relayed, now);
    int num_best = 0;
    while (!buffer.is_empty()) {
      const auto departure = buffer.next(now, OwnRouter::ready);
      const bool is_best = departure->header.hops[0] == 2;
      if (is_best) ++num_best;
      now += milliseconds(is_best ? 20 : 1);
      buffer.acknowledge(ack(*departure), now);
    }
    return num_best;
  };
  CHECK(share_of_best(100) < 30);
  CHECK(share_of_best(20) == 0);
  now += std::chrono::seconds(5);
  CHECK(share_of_best(20) == 1);
}

TEST_CASE(
    "send buffer: stripes over relays take one connection to each host until more are faster") {
  SendBuffer buffer(config(1e8, 3e8), kStart);
  buffer.add(1, payload(16 * kMaxSegmentBytes), TransferMode::striped, kStart);
  while (auto departure = buffer.next(kStart, OwnRouter::ready)) {
    CHECK(departure->header.connection == 0);
  }
}

TEST_CASE("send buffer: a slow relay gets nothing of a small message") {
  SendBuffer buffer(config(1e9, 1e7), kStart);
  buffer.add(1, payload(4 * kMaxSegmentBytes), TransferMode::striped, kStart);
  const auto share = share_of_paths(buffer, 1e9, 1e7);
  CHECK(share.count(2) == 0);
}

TEST_CASE("send buffer: a path on which frames wait for those of others is left, for a while") {
  SendBuffer buffer(config(1e8, 3e8), kStart);
  const auto num_hops_of_next = [&](Time now, std::uint16_t held_16us) {
    buffer.add(1, payload(kMaxSegmentBytes), TransferMode::striped, now);
    const auto departure = buffer.next(now, OwnRouter::ready);
    REQUIRE(departure);
    FrameHeader header = ack(*departure);
    header.held_16us[1] = held_16us;
    buffer.acknowledge(header, now + milliseconds(20));
    return departure->header.num_hops;
  };
  // 16 of the 20 ms.
  CHECK(num_hops_of_next(kStart, 1000) == 2);
  CHECK(buffer.paths_to(1)[1].latency_s > 3e-3);
  CHECK(num_hops_of_next(kStart + milliseconds(30), 0) == 1);
  CHECK(num_hops_of_next(kStart + milliseconds(2500), 0) == 2);
}

TEST_CASE("send buffer: a slow direct path is left also where messages overlap all the time") {
  // Two messages are on their way at any time, as in programs whose ranks run ahead by a step.
  constexpr std::size_t kBytes = std::size_t{4} * kMaxSegmentBytes;
  const milliseconds step(GENERATE(160, 200, 240));
  // Acks that are held up come with that of the last segment.
  const bool come_together = GENERATE(false, true);
  SendBuffer buffer(config(1e7, 1e7), kStart);
  std::multimap<Time, Departure> arrivals;
  std::map<int, Time> free_at{{1, kStart}, {2, kStart}};
  std::vector<Departure> departed;
  Time now = kStart;
  std::map<TransferMode, int> last_modes;
  for (int message = 0; message < 60; ++message) {
    const TransferMode mode = buffer.mode_to(1, kBytes, now);
    if (message >= 40) ++last_modes[mode];
    if (mode == TransferMode::mpi) {
      now += milliseconds(262);
    } else {
      buffer.match(1, buffer.add(1, payload(kBytes), mode, now));
    }
    const Time next_message = now + step;
    while (true) {
      while (auto departure = buffer.next(now, OwnRouter::ready)) {
        const int hops = departure->header.num_hops;
        const double rate_Bps = hops == 1 ? 1e6 : 1e7;
        const double ns = 1e9 * departure->header.segment_bytes / rate_Bps;
        free_at[hops] =
            std::max(now, free_at[hops]) + std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
        departed.push_back(*departure);
        const auto& header = departure->header;
        const bool is_last = header.offset_bytes + header.segment_bytes == kBytes;
        if (come_together && !is_last) continue;
        for (const Departure& each : departed) arrivals.emplace(free_at[hops], each);
        departed.clear();
      }
      if (arrivals.empty() || arrivals.begin()->first > next_message) break;
      now = std::max(now, arrivals.begin()->first);
      buffer.acknowledge(ack(arrivals.begin()->second), now);
      arrivals.erase(arrivals.begin());
    }
    now = std::max(now, next_message);
  }
  INFO(step.count() << " " << come_together);
  CHECK(last_modes[TransferMode::striped] >= 15);
}
