// SPDX-License-Identifier: Apache-2.0
// Phases of a program are recognised, and the paths that served them are taken again.
#include <array>
#include <vector>

#include "catch.hpp"
#include "outboxes.hpp"
#include "relay/messenger/phase_memory.hpp"

using namespace fairlead::intercept::relay;
using namespace fairlead::tests;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t kBytes = 1 << 20;

// A process whose messages follow each other by 10 ms.
class Sender {
 public:
  /// Rounds of one message to each rank.
  /// @return what the first message told
  PhaseMemory::Step run(const std::vector<std::uint32_t>& ranks, int num_rounds) {
    std::optional<PhaseMemory::Step> first;
    for (int round = 0; round < num_rounds; ++round) {
      for (const std::uint32_t rank : ranks) {
        now += milliseconds(10);
        last = memory.note(MessageClass::of(rank, kBytes), now);
        if (!first) first = last;
        if (last.entered) entered = last.entered;
      }
    }
    return *first;
  }

  PhaseMemory memory;
  PhaseMemory::Step last;
  std::optional<PhaseMemory::PhaseId> entered;
  Time now = kStart;
};

}  // namespace

TEST_CASE("phase: its first message is enough to recognise one that came before") {
  Sender sender;
  CHECK_FALSE(sender.run({1, 2}, 30).entered);
  const auto end_of_first = sender.run({3, 4}, 30);
  REQUIRE(end_of_first.left);
  CHECK_FALSE(end_of_first.entered);
  CHECK(sender.run({1, 2}, 30).entered == end_of_first.left);
}

TEST_CASE("phase: one that is part of another is recognised after a few messages") {
  Sender sender;
  sender.run({1}, 60);
  const auto small = sender.run({1, 2, 3}, 30).left;
  // The second message was of a new class: only then the first phase ended.
  CHECK_FALSE(small);
  sender.entered.reset();
  sender.run({1}, 20);
  REQUIRE(sender.entered);
  CHECK(sender.memory.classes_of(*sender.entered).size() == 1);
}

TEST_CASE("phase: of two that begin alike, the one that goes on alike is taken in the end") {
  Sender sender;
  sender.run({1, 2}, 30);
  sender.run({9}, 60);
  sender.run({1, 3}, 30);
  sender.run({9}, 60);
  sender.entered.reset();
  sender.run({1, 3}, 2);
  REQUIRE(sender.entered);
  CHECK(sender.memory.classes_of(*sender.entered)[1] == MessageClass::of(3, kBytes));
}

TEST_CASE("phase: messages of another size are another class") {
  CHECK(MessageClass::of(1, 1 << 20) == MessageClass::of(1, (1 << 20) + 1000));
  CHECK(MessageClass::of(1, 1 << 20) != MessageClass::of(1, 1 << 22));
}

TEST_CASE("phase: a short one is not remembered, and old ones are forgotten") {
  Sender sender;
  sender.run({1}, 60);
  CHECK(sender.run({2}, 5).left);
  CHECK_FALSE(sender.run({3}, 60).left);
  for (std::uint32_t rank = 10; rank < 30; ++rank) sender.run({rank}, 60);
  CHECK_FALSE(sender.memory.is_kept(1));
}

TEST_CASE("phase: a program without a pattern is never recognised") {
  Sender sender;
  for (std::uint32_t rank = 0; rank < 500; ++rank) sender.run({rank}, 1);
  CHECK_FALSE(sender.entered);
}

namespace {

// Rank 1 on host 1 and rank 2 on host 2, with a relay each; rank 0 sends.
MessengerSite two_targets(RuleName rule) {
  MessengerSite place;
  place.host_of_rank = {0, 1, 2};
  place.capacity_Bps_of_host.assign(4, 1e12);
  place.routes_of_host.resize(4);
  for (const std::uint16_t host : {std::uint16_t{1}, std::uint16_t{2}}) {
    place.routes_of_host[host] = {{.hops = {host}, .latency_s = 1e-4, .bandwidth_Bps = 1e8},
                                  {.hops = {3, host}, .latency_s = 2e-4, .bandwidth_Bps = 0.9e8}};
  }
  place.rule = rule;
  place.segment_s_of_link = links(4, segment_s(1e-4, 1e8));
  return place;
}

// One message after the other, on paths with these real rates.
class Program {
 public:
  explicit Program(RuleName rule) : box_(two_targets(rule), kStart) {}

  void run(std::uint32_t rank, double direct_Bps, double relayed_Bps, milliseconds time) {
    const Time end = now_ + time;
    while (now_ < end) (void)send(rank, direct_Bps, relayed_Bps);
  }

  /// @return bytes by the relay
  double send(std::uint32_t rank, double direct_Bps, double relayed_Bps) {
    const Way way = box_.way_to(rank, kBytes, now_);
    std::array<double, 2> bytes_of_path{};
    if (way == Way::mpi) {
      pass(kBytes / direct_Bps);
      return 0.0;
    }
    box_.claim(rank, box_.add(rank, payload(kBytes), way, now_));
    while (auto departure = box_.next(now_, OwnRouter::ready)) {
      const bool is_relayed = departure->header.num_hops == 2;
      bytes_of_path[is_relayed ? 1 : 0] += departure->header.segment_bytes;
      const double took_s =
          departure->header.segment_bytes / (is_relayed ? relayed_Bps : direct_Bps);
      pass(took_s);
      const std::vector<double> hops_s =
          is_relayed ? std::vector{took_s / 2, took_s / 2} : std::vector{took_s};
      box_.acknowledge(acknowledgement(*departure, hops_s), now_);
    }
    return bytes_of_path[1];
  }

 private:
  void pass(double seconds) {
    now_ += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
  }

  Outbox box_;
  Time now_ = kStart;
};

}  // namespace

TEST_CASE("phase: a program that alternates takes the remembered paths at once") {
  const RuleName rule = GENERATE(RuleName::trials, RuleName::mcm);
  INFO(static_cast<int>(rule));
  Program program(rule);
  // To host 1 the direct path has fallen to a tenth: this takes some messages to be found.
  CHECK(program.send(1, 1e7, 0.9e8) == 0.0);
  program.run(1, 1e7, 0.9e8, milliseconds(3000));
  // Long enough for all that is known of host 1 to be forgotten.
  program.run(2, 1e8, 0.9e8, milliseconds(5000));
  CHECK(program.send(1, 1e7, 0.9e8) > 0.0);
}
