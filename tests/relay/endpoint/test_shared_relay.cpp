// SPDX-License-Identifier: Apache-2.0
// Two senders with slow direct paths and one relay that both want, simulated with each rule.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using std::chrono::milliseconds;

namespace {

constexpr double kDirect_Bps = 1e7;
constexpr double kRelay_Bps = 1e8;
constexpr std::size_t kNumTenths = 400;
constexpr std::size_t kBytes = 4 << 20;

Clock::duration time_of(double bytes, double rate_Bps) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * bytes / rate_Bps));
}

// Who decides on the modes of messages.
enum class Modes : std::uint8_t { always_striped, of_the_rule };

class Flows {
 public:
  Flows(RuleName rule, Modes modes) : modes_(modes) {
    EndpointConfig place = config(kDirect_Bps, kRelay_Bps);
    place.rule = rule;
    for (std::size_t flow = 0; flow < 2; ++flow) buffers_.emplace_back(place, kStart);
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
      if (!departure.payload) {
        is_by_mpi_[flow] = false;
        continue;
      }
      buffers_[flow].acknowledge(ack(departure), now_);
      const auto tenth = static_cast<std::size_t>((now_ - kStart) / milliseconds(100));
      if (tenth < kNumTenths && departure.header.num_hops == 2) {
        by_relay[flow][tenth] += departure.header.segment_bytes;
      }
    }
    return by_relay;
  }
  /// How often a message took another mode than the one before it.
  [[nodiscard]] int num_changes_after(std::size_t flow, Time time) const {
    const auto& chosen = chosen_[flow];
    int num_changes = 0;
    for (std::size_t each = 1; each < chosen.size(); ++each) {
      if (chosen[each].first > time && chosen[each].second != chosen[each - 1].second) {
        ++num_changes;
      }
    }
    return num_changes;
  }

 private:
  void send(std::size_t flow) {
    if (buffers_[flow].is_empty() && !is_by_mpi_[flow]) begin(flow);
    while (auto departure = buffers_[flow].next(now_, OwnRouter::ready)) {
      const bool is_relayed = departure->header.num_hops == 2;
      Time& free = free_at_[is_relayed ? 2 : flow];
      if (is_relayed) departure->header.held_16us[1] = held_16us(flow, free - now_);
      free = std::max(now_, free) +
             time_of(departure->header.segment_bytes, is_relayed ? kRelay_Bps : kDirect_Bps);
      arrivals_.emplace(free, std::pair(flow, *departure));
    }
  }

  void begin(std::size_t flow) {
    const TransferMode mode = modes_ == Modes::always_striped
                                  ? TransferMode::striped
                                  : buffers_[flow].mode_to(1, kBytes, now_);
    chosen_[flow].emplace_back(now_, mode);
    if (mode == TransferMode::mpi) {
      is_by_mpi_[flow] = true;
      free_at_[flow] = std::max(now_, free_at_[flow]) + time_of(kBytes, kDirect_Bps);
      arrivals_.emplace(free_at_[flow], std::pair(flow, Departure{}));
    } else {
      buffers_[flow].match(1, buffers_[flow].add(1, payload(kBytes), mode, now_));
    }
  }

  // The wait that the relay writes into a frame of this flow, behind all those before it.
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

  Modes modes_;
  std::vector<SendBuffer> buffers_;
  std::array<bool, 2> is_by_mpi_{};
  // When each message began, and its mode.
  std::array<std::vector<std::pair<Time, TransferMode>>, 2> chosen_;
  // The end of a message by the MPI has no payload.
  std::multimap<Time, std::pair<std::size_t, Departure>> arrivals_;
  // When the two direct links and the relay are free.
  std::array<Time, 3> free_at_{kStart, kStart, kStart};
  Time now_ = kStart;
};

}  // namespace

TEST_CASE("send buffer: two flows that want the same relay share it and do not oscillate") {
  const RuleName rule = GENERATE(RuleName::trials, RuleName::mcm);
  Flows flows(rule, Modes::always_striped);
  // After a second each has half of the relay, in every tenth of a second.
  for (const auto& series : flows.run()) {
    for (std::size_t tenth = 10; tenth < kNumTenths; ++tenth) {
      INFO(static_cast<int>(rule) << " " << tenth);
      CHECK(series[tenth] > 0.3 * 0.1 * kRelay_Bps);
      CHECK(series[tenth] < 0.7 * 0.1 * kRelay_Bps);
    }
  }
}

TEST_CASE("send buffer: two flows with the same relay leave it only to try their direct paths") {
  const RuleName rule = GENERATE(RuleName::trials, RuleName::mcm);
  Flows flows(rule, Modes::of_the_rule);
  const auto by_relay = flows.run();
  // A trial is one message, and takes at most a twentieth of the time.
  const double num_trials = 0.05 * 0.1 * kNumTenths / (kBytes / kDirect_Bps);
  for (std::size_t flow = 0; flow < 2; ++flow) {
    INFO(static_cast<int>(rule) << " " << flow);
    const double relayed_bytes = std::reduce(by_relay[flow].begin() + 10, by_relay[flow].end());
    CHECK(relayed_bytes > 0.3 * 0.1 * kRelay_Bps * (kNumTenths - 10));
    CHECK(relayed_bytes < 0.7 * 0.1 * kRelay_Bps * (kNumTenths - 10));
    // To it and back.
    CHECK(flows.num_changes_after(flow, kStart + std::chrono::seconds(1)) <= 2.0 * num_trials);
  }
}
