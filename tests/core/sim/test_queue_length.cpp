// SPDX-License-Identifier: Apache-2.0
// The longest queue of a server, counted from the times at which service starts.
#include "sim/queue_length.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catch.hpp"

namespace sim = fairlead::sim;

TEST_CASE("queue length: exact while it is short, at most 0.1 % too high when it is long") {
  // Message k arrives at k and starts at 10 k: nine tenths of all that have come wait.
  sim::QueueLength queue;
  std::int64_t longest = 0;
  for (std::int64_t k = 0; k < 1'000'000; ++k) {
    queue.enter(k, 10 * k);
    const std::int64_t waiting = k - k / 10;  // starts after k: those from k / 10 + 1 to k
    longest = std::max(longest, waiting);
    REQUIRE(queue.longest() >= longest);
    REQUIRE(static_cast<double>(queue.longest()) <= static_cast<double>(longest) * 1.001);
    if (k < 4096) REQUIRE(queue.longest() == longest);
  }
}

TEST_CASE("queue length: a ring that grows counts as one of full size did") {
  // Bursts of ever more messages, after each of which the queue falls short or ends: the ring grows
  // while it is wrapped, and in the end pairs of blocks become one.
  std::uint64_t state = 1;
  const auto next = [&state](std::uint64_t bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % bound);
  };
  sim::QueueLength queue;
  std::int64_t arrival_ns = 0, free_ns = 0;
  std::vector<std::int64_t> longest;
  for (int phase = 0; phase < 12; ++phase) {
    for (int burst = 0; burst < 3; ++burst) {
      for (int message = 0; message < 8 << phase; ++message) {
        arrival_ns += next(10);
        const std::int64_t start_ns = std::max(arrival_ns, free_ns);
        free_ns = start_ns + 5 + next(16);
        queue.enter(arrival_ns, start_ns);
      }
      if (free_ns > arrival_ns) arrival_ns += (free_ns - arrival_ns) * next(10) / 8;
    }
    longest.push_back(queue.longest());
  }

  // As counted by the queue of 4096 blocks from the beginning, which this one replaced.
  REQUIRE(longest ==
          std::vector<std::int64_t>{9, 18, 55, 75, 83, 279, 723, 1158, 2474, 4879, 10739, 34159});
}
