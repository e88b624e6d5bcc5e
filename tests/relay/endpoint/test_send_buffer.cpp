// SPDX-License-Identifier: Apache-2.0
// What is kept, bounded and sent again, with a clock of the test's own.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "catch.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using fairlead::relay::kMaxSegmentBytes;
using std::chrono::milliseconds;

TEST_CASE("send buffer: a message leaves in segments that cover it once") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  const std::size_t bytes = 3 * kMaxSegmentBytes + 5;
  CHECK(buffer.add(1, payload(bytes), TransferMode::striped, kStart) == 1);
  CHECK(buffer.add(1, payload(1), TransferMode::striped, kStart) == 2);
  std::set<std::uint64_t> offsets;
  std::uint64_t sum = 0;
  while (auto departure = buffer.next(kStart, OwnRouter::ready)) {
    if (departure->header.message != 1) continue;
    offsets.insert(departure->header.offset_bytes);
    sum += departure->header.segment_bytes;
  }
  CHECK(offsets == std::set<std::uint64_t>{0, 65536, 131072, 196608});
  CHECK(sum == bytes);
}

TEST_CASE("send buffer: the MPI carries messages of a sender that is far ahead of its receiver") {
  constexpr std::uint64_t kBytes = 16 << 20;
  SendBuffer buffer(config(1e8, 3e9), kStart);
  std::uint64_t number = 0;
  for (std::uint64_t sent = 0; sent < SendBuffer::kMaxKeptBytes; sent += kBytes) {
    CHECK(buffer.mode_to(1, kBytes, kStart) != TransferMode::mpi);
    number = buffer.add(1, payload(kBytes), TransferMode::striped, kStart);
  }
  CHECK(buffer.mode_to(1, kBytes, kStart) == TransferMode::mpi);
  CHECK_FALSE(buffer.has_space(1));
  // One is rejected, another arrives.
  buffer.reject(1, number, kStart);
  CHECK(buffer.has_space(kBytes));
  CHECK_FALSE(buffer.has_space(kBytes + 1));
  while (const auto departure = buffer.next(kStart, OwnRouter::ready)) {
    buffer.acknowledge(ack(*departure), kStart);
  }
  CHECK(buffer.has_space(2 * kBytes));
  CHECK(buffer.mode_to(1, kBytes, kStart) != TransferMode::mpi);
}

TEST_CASE("send buffer: a message that is larger than all that is kept goes alone") {
  SendBuffer buffer(config(1e8, 3e9), kStart);
  CHECK(buffer.has_space(SendBuffer::kMaxKeptBytes + 1));
  buffer.add(1, payload(1), TransferMode::striped, kStart);
  CHECK_FALSE(buffer.has_space(SendBuffer::kMaxKeptBytes));
}

TEST_CASE("send buffer: what is not acknowledged goes by another path") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  buffer.add(1, payload(100), TransferMode::striped, kStart);
  const auto first = buffer.next(kStart, OwnRouter::ready);
  REQUIRE(first);
  CHECK_FALSE(buffer.next(kStart, OwnRouter::ready));
  const Time late = kStart + milliseconds(400);
  buffer.expire(late);
  const auto second = buffer.next(late, OwnRouter::ready);
  REQUIRE(second);
  CHECK(second->header.num_hops != first->header.num_hops);
  // Either ack ends it.
  buffer.acknowledge(ack(*first), late);
  CHECK(buffer.is_empty());
}

TEST_CASE("send buffer: a late ack does not time the path of the repetition") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  buffer.add(1, payload(2 * kMaxSegmentBytes), TransferMode::striped, kStart);
  std::vector<Departure> first;
  while (auto departure = buffer.next(kStart, OwnRouter::ready)) first.push_back(*departure);
  REQUIRE(first.size() == 2);
  REQUIRE(first[0].header.num_hops == first[1].header.num_hops);
  Time now = kStart + milliseconds(400);
  buffer.expire(now);
  std::size_t other = 0;
  while (auto departure = buffer.next(now, OwnRouter::ready)) other = departure->header.num_hops;
  REQUIRE((other == 1 || other == 2));
  REQUIRE(other != first[0].header.num_hops);
  now += std::chrono::microseconds(1);
  for (const Departure& departure : first) buffer.acknowledge(ack(departure), now);
  CHECK(buffer.is_empty());
  CHECK(buffer.paths_to(1)[other - 1].rate_Bps == 1e9);
}

namespace {

struct Sendings {
  double seconds = 0.0;
  double num_bytes = 0.0;
  int most_of_segment = 0;
};

// Sends all that is in the buffer over one interface that all paths share, until it has arrived or
// it takes ten times what it should.
Sendings send_over_one_interface(SendBuffer& buffer, double rate_Bps, double bytes,
                                 OwnRouter router) {
  Sendings sendings;
  std::map<std::uint64_t, int> num_of_offset;
  std::multimap<Time, Departure> arrivals;
  Time now = kStart;
  Time free_at = now;
  while (!buffer.is_empty() && sendings.seconds < 10.0 * bytes / rate_Bps) {
    buffer.expire(now);
    while (auto departure = buffer.next(now, router)) {
      const auto& header = departure->header;
      sendings.num_bytes += header.segment_bytes;
      sendings.most_of_segment =
          std::max(sendings.most_of_segment, ++num_of_offset[header.offset_bytes]);
      free_at = std::max(now, free_at) + std::chrono::nanoseconds(static_cast<std::int64_t>(
                                             1e9 * header.segment_bytes / rate_Bps));
      arrivals.emplace(free_at, *departure);
    }
    now += milliseconds(10);
    while (!arrivals.empty() && arrivals.begin()->first <= now) {
      buffer.acknowledge(ack(arrivals.begin()->second), now);
      arrivals.erase(arrivals.begin());
    }
    sendings.seconds = std::chrono::duration<double>(now - kStart).count();
  }
  return sendings;
}

}  // namespace

TEST_CASE("send buffer: repetitions do not fill an interface on which a segment takes long") {
  // The first segment alone takes twice the least time after which one is sent again.
  constexpr double kRate_Bps = 1e5;
  constexpr std::size_t kBytes = std::size_t{400} * kMaxSegmentBytes;
  const OwnRouter router = GENERATE(OwnRouter::absent, OwnRouter::ready);
  SendBuffer buffer(config(1e8, 1e8), kStart);
  buffer.match(1, buffer.add(1, payload(kBytes), TransferMode::striped, kStart));

  const Sendings sendings = send_over_one_interface(buffer, kRate_Bps, kBytes, router);

  INFO(static_cast<int>(router) << ": " << sendings.seconds << " s, " << sendings.num_bytes);
  CHECK(buffer.is_empty());
  CHECK(sendings.most_of_segment <= 6);
  CHECK(sendings.num_bytes < 1.5 * kBytes);
  CHECK(sendings.seconds < 1.5 * kBytes / kRate_Bps);
}

TEST_CASE("send buffer: what went without routers by a connection that has ended goes at once") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  buffer.add(1, payload(3 * kMaxSegmentBytes), TransferMode::striped, kStart);
  std::vector<Departure> first;
  while (auto departure = buffer.next(kStart, OwnRouter::absent)) first.push_back(*departure);
  REQUIRE(first.size() == 3);
  buffer.acknowledge(ack(first[0]), kStart);

  buffer.lose_connection(1);

  std::set<std::uint64_t> offsets;
  while (auto departure = buffer.next(kStart, OwnRouter::absent)) {
    CHECK(departure->bypasses_routers);
    offsets.insert(departure->header.offset_bytes);
  }
  CHECK(offsets == std::set<std::uint64_t>{65536, 131072});
}

TEST_CASE("send buffer: without any router messages go to the receiver itself") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  buffer.add(1, payload(100), TransferMode::striped, kStart);
  REQUIRE(buffer.next(kStart, OwnRouter::ready));
  buffer.lose_router();
  const auto departure = buffer.next(kStart, OwnRouter::absent);
  REQUIRE(departure);
  CHECK(departure->bypasses_routers);
}

TEST_CASE("send buffer: what a receiver has not matched is bounded, and a match frees it") {
  SendBuffer buffer(config(1e12, 1e12), kStart);
  const std::size_t bytes = SendBuffer::kUnmatchedBytes / 2 + 1;
  std::set<std::uint64_t> seen;
  for (int message = 0; message < 4; ++message)
    buffer.add(1, payload(bytes), TransferMode::striped, kStart);
  const auto send_all = [&] {
    while (auto departure = buffer.next(kStart, OwnRouter::ready)) {
      seen.insert(departure->header.message);
      // Not the last segment, so that no message is done.
      if (departure->header.offset_bytes + departure->header.segment_bytes < bytes) {
        buffer.acknowledge(ack(*departure), kStart + milliseconds(1));
      }
    }
  };
  send_all();
  CHECK(seen == std::set<std::uint64_t>{1});
  buffer.match(1, 3);
  send_all();
  CHECK(seen == std::set<std::uint64_t>{1, 3});
}

TEST_CASE(
    "send buffer: a message that was matched or rejected before it was added does not count") {
  // The receiver may have the rendezvous header while the sender is on its way to add the message.
  SendBuffer buffer(config(1e12, 1e12), kStart);
  const bool is_rejected = GENERATE(false, true);
  for (int message = 0; message < 4; ++message) {
    const std::uint64_t number = buffer.reserve(1);
    if (is_rejected) {
      buffer.reject(1, number, kStart);
    } else {
      buffer.match(1, number);
    }
    buffer.add(1, number, payload(SendBuffer::kUnmatchedBytes / 2), TransferMode::striped, kStart);
    while (auto departure = buffer.next(kStart, OwnRouter::ready)) {
      buffer.acknowledge(ack(*departure), kStart + milliseconds(1));
    }
    CHECK(buffer.is_empty());
  }
}

TEST_CASE("send buffer: an unmatched message counts also when it has arrived") {
  SendBuffer buffer(config(1e12, 1e12), kStart);
  for (int message = 0; message < 2; ++message) {
    buffer.add(1, payload(SendBuffer::kUnmatchedBytes), TransferMode::striped, kStart);
  }
  const auto send_all = [&] {
    std::uint64_t last = 0;
    while (auto departure = buffer.next(kStart, OwnRouter::ready)) {
      last = departure->header.message;
      buffer.acknowledge(ack(*departure), kStart + milliseconds(1));
    }
    return last;
  };
  CHECK(send_all() == 1);
  CHECK(send_all() == 0);
  buffer.match(1, 1);
  CHECK(send_all() == 2);
  CHECK(buffer.is_empty());
}

TEST_CASE("send buffer: while the own router hangs, closed paths leave the way past it") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  buffer.add(1, payload(100), TransferMode::striped, kStart);
  CHECK_FALSE(buffer.next(kStart, OwnRouter::busy));
  // Both paths fail, one after the other.
  Time now = kStart;
  for (int path = 0; path < 2; ++path) {
    REQUIRE(buffer.next(now, OwnRouter::ready));
    now += milliseconds(310);
    buffer.expire(now);
  }
  const auto departure = buffer.next(now, OwnRouter::busy);
  REQUIRE(departure);
  CHECK(departure->bypasses_routers);
}

TEST_CASE(
    "send buffer: a message after short ones on a busy machine leaves a router that hangs soon") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  Time now = kStart;
  // Processes that share a core answer late, whatever the size.
  for (int message = 0; message < 100; ++message) {
    buffer.match(1, buffer.add(1, payload(25), TransferMode::striped, now));
    const auto departure = buffer.next(now, OwnRouter::ready);
    REQUIRE(departure);
    now += milliseconds(20);
    buffer.acknowledge(ack(*departure), now);
  }
  REQUIRE(buffer.is_empty());

  buffer.add(1, payload(3 << 20), TransferMode::striped, now);
  const Time begun = now;
  bool bypasses_routers = false;
  while (!bypasses_routers && now - begun < std::chrono::minutes(10)) {
    while (const auto departure = buffer.next(now, OwnRouter::ready)) {
      bypasses_routers |= departure->bypasses_routers;
    }
    now += milliseconds(50);
    buffer.expire(now);
  }

  CHECK(bypasses_routers);
  CHECK(now - begun < std::chrono::seconds(5));
}

namespace {

// A match question, which a busy receiver answers late.
void ask(SendBuffer& buffer, Time& now) {
  buffer.match(1, buffer.add(1, payload(8), TransferMode::direct, now));
  const auto departure = buffer.next(now, OwnRouter::ready);
  REQUIRE(departure);
  REQUIRE(departure->header.message_bytes == 8);
  now += milliseconds(20);
  buffer.acknowledge(ack(*departure), now);
}

}  // namespace

TEST_CASE("send buffer: messages are timed while match questions are asked") {
  constexpr std::uint64_t kBytes = std::uint64_t{8} * kMaxSegmentBytes;
  SendBuffer buffer(config(1e8, 3e8), kStart);
  REQUIRE(buffer.is_striping_worth(1, kBytes));
  Time now = kStart;
  for (int message = 0; message < 4; ++message) {
    buffer.match(1, buffer.add(1, payload(kBytes), TransferMode::striped, now));
    std::vector<Departure> departures;
    while (const auto departure = buffer.next(now, OwnRouter::ready))
      departures.push_back(*departure);
    REQUIRE(departures.size() == 8);
    ask(buffer, now);
    // Far slower than planned.
    now += milliseconds(500);
    for (const Departure& departure : departures) buffer.acknowledge(ack(departure), now);
    REQUIRE(buffer.is_empty());
  }
  CHECK_FALSE(buffer.is_striping_worth(1, kBytes));
}

TEST_CASE("send buffer: a message whose last ack is on its way does not hold the next one") {
  constexpr std::size_t kBytes = std::size_t{16} * kMaxSegmentBytes;
  // The plan expects much of the relay; it is half as fast as the direct path.
  SendBuffer buffer(config(5e7, 1e8), kStart);
  Time now = kStart;
  int num_by_mpi = 0;
  std::vector<Departure> late;
  for (int message = 0; message < 20; ++message) {
    const TransferMode mode = buffer.mode_to(1, kBytes, now);
    if (mode == TransferMode::mpi) {
      ++num_by_mpi;
      now += milliseconds(10);
      continue;
    }
    buffer.match(1, buffer.add(1, payload(kBytes), mode, now));
    now += milliseconds(mode == TransferMode::direct ? 10 : 20);
    for (const Departure& departure : late) buffer.acknowledge(ack(departure), now);
    late.clear();
    while (auto departure = buffer.next(now, OwnRouter::ready)) {
      const auto end = departure->header.offset_bytes + departure->header.segment_bytes;
      if (end == kBytes) {
        late.push_back(*departure);
      } else {
        buffer.acknowledge(ack(*departure), now);
      }
    }
  }
  CHECK(num_by_mpi >= 12);
}

TEST_CASE("send buffer: a rejected message is forgotten") {
  SendBuffer buffer(config(1e9, 1e9), kStart);
  buffer.add(1, payload(10 * kMaxSegmentBytes), TransferMode::striped, kStart);
  REQUIRE(buffer.next(kStart, OwnRouter::ready));
  buffer.reject(1, 1, kStart);
  CHECK_FALSE(buffer.next(kStart, OwnRouter::ready));
  CHECK(buffer.is_empty());
  CHECK(buffer.paths_to(1)[0].in_flight_bytes == 0);
  CHECK(buffer.paths_to(1)[1].in_flight_bytes == 0);
}
