// SPDX-License-Identifier: Apache-2.0
// The next event of many, against a sorted set of them.
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "collectives/event_queue.hpp"

using fairlead::collectives::EventQueue;

TEST_CASE("event queue: the earliest comes first, of equal times the one that was set first") {
  EventQueue queue(4);
  queue.set(0, 20);
  queue.set(1, 10);
  queue.set(2, 10);
  queue.set(3, 30);
  queue.set(1, 10);
  queue.set(3, 5);
  std::vector<std::int32_t> popped;
  while (!queue.is_empty()) popped.push_back(queue.pop());
  CHECK(popped == std::vector<std::int32_t>{3, 2, 1, 0});
}

TEST_CASE("event queue: events are set, set anew and taken out as in a sorted set") {
  constexpr std::int32_t kNumTransfers = 50;
  std::mt19937 random(GENERATE(1U, 2U, 3U));
  EventQueue queue(kNumTransfers);
  // Time, when it was set, transfer.
  using Event = std::tuple<std::int64_t, int, std::int32_t>;
  std::set<Event> events;
  std::vector<std::optional<Event>> event_of(kNumTransfers);
  for (int turn = 0; turn < 5000; ++turn) {
    // Fills up, and runs empty.
    const bool is_taken = random() % 1000 < (turn / 500 % 2 == 0 ? 300U : 700U);
    if (is_taken && !events.empty()) {
      const auto [time_ns, when, transfer] = *events.begin();
      REQUIRE(queue.next_ns() == time_ns);
      REQUIRE(queue.pop() == transfer);
      events.erase(events.begin());
      event_of[static_cast<std::size_t>(transfer)].reset();
    } else {
      const auto transfer = static_cast<std::int32_t>(random() % kNumTransfers);
      const Event event{static_cast<std::int64_t>(random() % 40), turn, transfer};
      auto& former = event_of[static_cast<std::size_t>(transfer)];
      if (former) events.erase(*former);
      former = event;
      events.insert(event);
      queue.set(transfer, std::get<0>(event));
    }
    REQUIRE(queue.is_empty() == events.empty());
  }
}
