// SPDX-License-Identifier: Apache-2.0
// Messages between processes by routers, over real sockets.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <random>
#include <thread>

#include "catch.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::relay;
using fairlead::tests::Network;
using fairlead::tests::some_key;

namespace {

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Process 0 on host 0 and process 1 on host 1, with a direct path and one by host 2.
struct Pair {
  explicit Pair(Network& network, RuleName rule = RuleName::trials, double relay_Bps = 1e9)
      : first(config(network, 0, rule, relay_Bps), "127.0.0.1", [](auto, auto) {}),
        second(config(network, 1, rule, relay_Bps), "127.0.0.1", [](auto, auto) {}) {
    const std::vector<Address> addresses{{"127.0.0.1", first.port()}, {"127.0.0.1", second.port()}};
    first.start(addresses);
    second.start(addresses);
  }

  static EndpointConfig config(Network& network, std::uint16_t rank, RuleName rule,
                               double relay_Bps) {
    EndpointConfig config;
    config.key = some_key();
    config.rank = rank;
    config.host = rank;
    config.host_of_rank = {0, 1};
    config.socket = network.router(rank).socket();
    config.paths_of_host.resize(3);
    config.capacity_Bps_of_host = {1e12, 1e12, 1e12};
    const std::uint16_t other = rank == 0 ? 1 : 0;
    config.paths_of_host[other] = {
        {.hops = {other}, .latency_s = 1e-4, .bandwidth_Bps = 0.1 * relay_Bps},
        {.hops = {2, other}, .latency_s = 1e-4, .bandwidth_Bps = relay_Bps},
    };
    config.rule = rule;
    const double segment_s = fairlead::relay::kMaxSegmentBytes / relay_Bps;
    config.segment_s_of_link.assign(3, std::vector(3, segment_s));
    return config;
  }

  Messenger first;
  Messenger second;
};

bool is_equal(const Arrived& arrived, const std::vector<std::byte>& bytes) {
  const auto span = arrived.span();
  return std::equal(span.begin(), span.end(), bytes.begin(), bytes.end());
}

std::size_t num_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("messenger: messages of many sizes arrive unchanged, both ways") {
  Network network(3);
  Pair pair(network);
  unsigned seed = 0;
  for (const std::size_t size : {1UL, 23UL, 65535UL, 65536UL, 65537UL, 1UL << 20, 20UL << 20}) {
    const auto there = random_bytes(size, ++seed);
    const auto back = random_bytes(size, ++seed);
    const auto number = pair.first.send(1, there, TransferMode::striped);
    const auto other = pair.second.send(0, back, TransferMode::striped);
    CHECK(is_equal(pair.second.receive(0, number), there));
    CHECK(is_equal(pair.first.receive(1, other), back));
  }
  CHECK(pair.first.drain());
  CHECK(pair.second.drain());
  // Both paths have served.
  CHECK(network.router(2).counters().forwarded_bytes > 0);
  CHECK(pair.first.paths_to(1)[0].sent_bytes > 0);
}

TEST_CASE(
    "messenger: by MCM's rule a path that is far slower than planned opens the relay, and "
    "acks bring what each hop took") {
  // No machine reaches what this plan expects.
  constexpr double kFar_Bps = 1e15;
  Network network(3);
  Pair pair(network, RuleName::mcm, kFar_Bps);
  const auto bytes = random_bytes(1 << 20, 1);
  for (int message = 0; message < 8; ++message) {
    const auto number = pair.first.send(1, bytes, TransferMode::striped);
    CHECK(is_equal(pair.second.receive(0, number), bytes));
  }
  CHECK(pair.first.drain());
  CHECK(network.router(2).counters().forwarded_bytes > 0);
  CHECK(pair.first.paths_to(1)[0].sent_bytes > 0);
  CHECK(pair.first.uses_of_paths_to(1)[1] >= PathUse::open);
  std::vector<std::pair<int, int>> links;
  for (const LinkLatency& each : pair.first.measured_links()) {
    links.emplace_back(each.src, each.dst);
    CHECK(each.latency_s > fairlead::relay::kMaxSegmentBytes / kFar_Bps);
  }
  CHECK(links == std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {2, 1}});
}

TEST_CASE("messenger: a message takes all connections of the direct path") {
  Network network(3);
  Pair pair(network);
  const auto bytes = random_bytes(4 << 20, 1);
  const auto number = pair.first.send(1, bytes, TransferMode::parallel);
  CHECK(is_equal(pair.second.receive(0, number), bytes));
  CHECK(pair.first.drain());
  for (const PathState& path : pair.first.paths_to(1)) {
    if (path.planned.is_direct()) CHECK(path.sent_bytes > 0);
  }
}

TEST_CASE("messenger: a message that is never taken holds up no other") {
  Network network(3);
  Pair pair(network);
  pair.first.send(1, random_bytes(20 << 20, 1), TransferMode::striped);
  pair.first.send(1, random_bytes(20 << 20, 2), TransferMode::striped);
  const auto last = random_bytes(20 << 20, 3);
  const auto number = pair.first.send(1, last, TransferMode::striped);
  CHECK(is_equal(pair.second.receive(0, number), last));
  pair.second.reject(0, 1);
  pair.second.reject(0, 2);
  CHECK(pair.first.drain());
}

TEST_CASE("messenger: a relay that dies during a message loses nothing") {
  Network network(3);
  Pair pair(network);
  const auto bytes = random_bytes(16 << 20, 1);
  const auto number = pair.first.send(1, bytes, TransferMode::striped);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  network.router(2).stop();
  CHECK(is_equal(pair.second.receive(0, number), bytes));
}

TEST_CASE("messenger: without its own router a process reaches the receiver itself") {
  Network network(3);
  Pair pair(network);
  const auto bytes = random_bytes(16 << 20, 1);
  const auto number = pair.first.send(1, bytes, TransferMode::striped);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  network.router(0).stop();
  CHECK(is_equal(pair.second.receive(0, number), bytes));
  network.router(1).stop();
  const auto more = pair.second.send(0, bytes, TransferMode::striped);
  CHECK(is_equal(pair.first.receive(1, more), bytes));
}

TEST_CASE("messenger: a router that hangs for ever holds back no match") {
  const std::size_t hung = GENERATE(0U, 1U, 2U);
  Network network(3);
  Pair pair(network);
  const auto bytes = random_bytes(20 << 20, 1);
  // Connections are open.
  const auto first = pair.first.send(1, bytes, TransferMode::striped);
  CHECK(is_equal(pair.second.receive(0, first), bytes));
  network.router(hung).hang();
  // A receiver keeps one of these before they are matched.
  for (int message = 0; message < 2; ++message) pair.first.send(1, bytes, TransferMode::striped);
  const auto last = pair.first.send(1, bytes, TransferMode::striped);
  CHECK(is_equal(pair.second.receive(0, last), bytes));
}

TEST_CASE("messenger: a router that hangs from the beginning holds back nothing") {
  Network network(3);
  network.router(0).hang();
  network.router(1).hang();
  Pair pair(network);
  const auto bytes = random_bytes(20 << 20, 1);
  pair.first.send(1, bytes, TransferMode::striped);
  const auto last = pair.first.send(1, bytes, TransferMode::striped);
  CHECK(is_equal(pair.second.receive(0, last), bytes));
  pair.second.reject(0, 1);
  CHECK(pair.first.drain());
  CHECK(pair.second.drain());
}

TEST_CASE("messenger: silent callers use up no more than some file descriptors") {
  constexpr std::size_t kCallers = 4 * Messenger::kMaxUnproved;
  Network network(3);
  Pair pair(network);
  network.router(0).stop();
  const std::size_t before = num_descriptors();
  std::vector<FileDescriptor> silent;
  std::size_t most = 0;
  while (silent.size() < kCallers) {
    silent.push_back(connect_to({"127.0.0.1", pair.second.port()}));
    const auto bytes = random_bytes(1000, 1);
    const auto number = pair.first.send(1, bytes, TransferMode::striped);
    // So the messenger has looked for callers; what is sent goes without routers.
    CHECK(is_equal(pair.second.receive(0, number), bytes));
    most = std::max(most, num_descriptors() - before - silent.size());
  }
  // Both ends of connections between the processes, too.
  CHECK(most <= Messenger::kMaxUnproved + 8);
}

TEST_CASE("messenger: a match that is lost after its message has arrived counts in the end") {
  Network network(3);
  Pair pair(network);
  const auto bytes = random_bytes(SendBuffer::kUnmatchedBytes, 1);
  const auto first = pair.first.send(1, bytes, TransferMode::striped);
  while (!pair.second.has(0, first)) std::this_thread::yield();
  const std::size_t hung = GENERATE(0U, 1U);
  network.router(hung).hang();
  CHECK(is_equal(pair.second.receive(0, first), bytes));
  // Goes before it is matched only if the first one is known to be.
  const auto next = pair.first.send(1, bytes, TransferMode::striped);
  while (!pair.second.has(0, next)) std::this_thread::yield();
}

TEST_CASE("messenger: a rejection that is lost ends its message in the end") {
  Network network(3);
  Pair pair(network);
  const auto bytes = random_bytes(SendBuffer::kUnmatchedBytes, 1);
  const auto first = pair.first.send(1, bytes, TransferMode::striped);
  const auto held = pair.first.send(1, bytes, TransferMode::striped);
  while (!pair.second.has(0, first)) std::this_thread::yield();
  network.router(1).hang();
  pair.second.reject(0, held);
  pair.second.reject(0, first);
  CHECK(pair.first.drain());
}
