// SPDX-License-Identifier: Apache-2.0
// A sender with a slow direct path takes a relay, until others fill that; simulated.
#include <algorithm>
#include <map>

#include "catch.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr double kDirect_Bps = 2e7;
constexpr double kRelay_Bps = 1e8;
constexpr double kFilled_Bps = 1e6;
constexpr std::size_t kBytes = 1 << 20;
const Time kFilled = kStart + seconds(10);
const Time kEnd = kStart + seconds(40);

Clock::duration time_of(double bytes, double rate_Bps) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * bytes / rate_Bps));
}

// Sends one message after the other, each when the one before has arrived.
class Program {
 public:
  Program() : send_buffer_(config(kDirect_Bps, kRelay_Bps), kStart) {}

  /// The end of each message, and whether any of it went by the relay.
  std::map<Time, bool> run() {
    std::map<Time, bool> messages;
    while (now_ < kEnd) {
      const TransferMode mode = send_buffer_.mode_to(1, kBytes, now_);
      is_relayed_ = false;
      if (mode == TransferMode::mpi) {
        now_ += time_of(kBytes, kDirect_Bps);
      } else {
        send_buffer_.match(1, send_buffer_.add(1, payload(kBytes), mode, now_));
        deliver();
      }
      messages.emplace(now_, is_relayed_);
    }
    return messages;
  }

 private:
  void deliver() {
    while (!send_buffer_.is_empty()) {
      while (auto departure = send_buffer_.next(now_, OwnRouter::ready)) {
        const bool by_relay = departure->header.num_hops == 2;
        is_relayed_ |= by_relay;
        Time& free = by_relay ? relay_free_ : direct_free_;
        const double relay_Bps = now_ < kFilled ? kRelay_Bps : kFilled_Bps;
        free = std::max(now_, free) +
               time_of(departure->header.segment_bytes, by_relay ? relay_Bps : kDirect_Bps);
        arrivals_.emplace(free, *departure);
      }
      REQUIRE_FALSE(arrivals_.empty());
      now_ = std::max(now_, arrivals_.begin()->first);
      send_buffer_.acknowledge(ack(arrivals_.begin()->second), now_);
      arrivals_.erase(arrivals_.begin());
    }
  }

  SendBuffer send_buffer_;
  std::multimap<Time, Departure> arrivals_;
  Time direct_free_ = kStart;
  Time relay_free_ = kStart;
  Time now_ = kStart;
  bool is_relayed_ = false;
};

double relayed_ratio(const std::map<Time, bool>& messages, Time from, Time to) {
  const auto begin = messages.lower_bound(from);
  const auto end = messages.lower_bound(to);
  const auto relayed = std::count_if(begin, end, [](const auto& one) { return one.second; });
  return static_cast<double>(relayed) / static_cast<double>(std::distance(begin, end));
}

}  // namespace

TEST_CASE(
    "send buffer: a relay that others fill is left within five seconds, back to the direct path") {
  const auto messages = Program().run();

  CHECK(relayed_ratio(messages, kStart + seconds(2), kFilled) > 0.8);
  // Trials take at most a twentieth of the time, a filled relay twenty times as long as a message.
  CHECK(relayed_ratio(messages, kFilled + seconds(5), kEnd) < 0.05);
  const auto late = std::distance(messages.lower_bound(kFilled + seconds(5)), messages.end());
  const double all_direct = 25.0 * kDirect_Bps / kBytes;
  CHECK(static_cast<double>(late) > 0.9 * all_direct);
}
