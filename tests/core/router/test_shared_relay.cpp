// SPDX-License-Identifier: Apache-2.0
// Two senders with slow direct paths and one relay that both want, simulated with each rule.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "catch.hpp"
#include "outboxes.hpp"

using namespace fairlead::intercept::relay;
using namespace fairlead::tests;
using std::chrono::milliseconds;

namespace {

constexpr double kDirect_Bps = 1e7;
constexpr double kRelay_Bps = 1e8;
constexpr std::size_t kNumTenths = 40;

Clock::duration time_of(double bytes, double rate_Bps) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * bytes / rate_Bps));
}

class Flows {
 public:
  explicit Flows(RuleName rule) {
    MessengerSite place = site(kDirect_Bps, kRelay_Bps);
    place.rule = rule;
    for (std::size_t flow = 0; flow < 2; ++flow) boxes_.emplace_back(place, kStart);
  }

  /// @return bytes of each flow by the relay in each tenth of a second
  std::vector<std::vector<double>> run() {
    std::vector<std::vector<double>> by_relay(2, std::vector<double>(kNumTenths, 0.0));
    while (now_ < kStart + milliseconds(100 * kNumTenths)) {
      for (std::size_t flow = 0; flow < 2; ++flow) send(flow);
      REQUIRE_FALSE(arrivals_.empty());
      now_ = arrivals_.begin()->first;
      const auto [flow, departure] = arrivals_.begin()->second;
      arrivals_.erase(arrivals_.begin());
      boxes_[flow].acknowledge(acknowledgement(departure), now_);
      const auto tenth = static_cast<std::size_t>((now_ - kStart) / milliseconds(100));
      if (tenth < kNumTenths && departure.header.num_hops == 2) {
        by_relay[flow][tenth] += departure.header.segment_bytes;
      }
    }
    return by_relay;
  }

 private:
  void send(std::size_t flow) {
    if (boxes_[flow].is_empty()) {
      const auto number = boxes_[flow].add(1, payload(4 << 20), Way::striped, now_);
      boxes_[flow].claim(1, number);
    }
    while (auto departure = boxes_[flow].next(now_, OwnRouter::ready)) {
      const bool is_relayed = departure->header.num_hops == 2;
      Time& free = free_at_[is_relayed ? 2 : flow];
      if (is_relayed) departure->header.held_16us[1] = held_16us(flow, free - now_);
      free = std::max(now_, free) +
             time_of(departure->header.segment_bytes, is_relayed ? kRelay_Bps : kDirect_Bps);
      arrivals_.emplace(free, std::pair(flow, *departure));
    }
  }

  // What the relay tells a frame of this flow that waits for all those before it.
  [[nodiscard]] std::uint16_t held_16us(std::size_t flow, Clock::duration wait) const {
    std::array<double, 2> num_ahead{};
    for (const auto& [time, ahead] : arrivals_) {
      if (ahead.second.header.num_hops == 2) num_ahead[ahead.first] += 1.0;
    }
    if (wait.count() <= 0 || num_ahead[0] + num_ahead[1] == 0.0) return 0;
    const double others_ratio = num_ahead[1 - flow] / (num_ahead[0] + num_ahead[1]);
    const std::chrono::duration<double, std::micro> waited = wait;
    return static_cast<std::uint16_t>(waited.count() * others_ratio / 16.0);
  }

  std::vector<Outbox> boxes_;
  std::multimap<Time, std::pair<std::size_t, Departure>> arrivals_;
  // Of the two direct links and of the relay.
  std::array<Time, 3> free_at_{kStart, kStart, kStart};
  Time now_ = kStart;
};

}  // namespace

TEST_CASE("outbox: two flows that want the same relay share it and do not oscillate") {
  const RuleName rule = GENERATE(RuleName::trials, RuleName::mcm);
  Flows flows(rule);
  // After a second each has half of the relay, in every tenth of a second.
  for (const auto& series : flows.run()) {
    for (std::size_t tenth = 10; tenth < kNumTenths; ++tenth) {
      INFO(static_cast<int>(rule) << " " << tenth);
      CHECK(series[tenth] > 0.3 * 0.1 * kRelay_Bps);
      CHECK(series[tenth] < 0.7 * 0.1 * kRelay_Bps);
    }
  }
}
