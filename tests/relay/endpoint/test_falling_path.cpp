// SPDX-License-Identifier: Apache-2.0
// The direct path falls to a twentieth under a rank of a ring, simulated with a clock of its own: a
// sender that messages by routers let run ahead of its receiver, as MPI's own do not.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "catch.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using std::chrono::milliseconds;

namespace {

constexpr double kRate_Bps = 6e7;
constexpr double kFallen_Bps = kRate_Bps / 20;
constexpr std::size_t kBytes = 1 << 20;
constexpr std::size_t kSegments = kBytes / fairlead::relay::kMaxSegmentBytes;
/// So many messages the ring lets a sender be ahead of its receiver, where they need not be there.
constexpr std::size_t kMaxAhead = 5;
constexpr milliseconds kTick{1};

Clock::duration time_of(double bytes, double rate_Bps) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * bytes / rate_Bps));
}

/// One message: when it was sent, and when the receiver had it and all before it.
struct Passed {
  Time sent;
  Time received;
};

class Ring {
 public:
  explicit Ring(RuleName rule) : buffer_(at(rule), kStart) {}

  /// @param pause  that the program makes before its next message
  void run(milliseconds time, double direct_Bps, milliseconds pause = milliseconds(0)) {
    next_send_ = std::max(next_send_, now_) + pause;
    for (const Time end = now_ + time; now_ < end; now_ += kTick) step(direct_Bps);
  }

  [[nodiscard]] Time now() const { return now_; }
  /// Those that began after this; only whole ones.
  [[nodiscard]] std::vector<Passed> since(Time begin) const {
    std::vector<Passed> found;
    Time received{};
    for (const auto& [number, each] : passed_) {
      if (each.received == Time{}) break;
      received = std::max(received, each.received);
      if (each.sent >= begin) found.push_back({each.sent, received});
    }
    return found;
  }
  [[nodiscard]] double direct_bytes() const { return direct_bytes_; }

 private:
  static EndpointConfig at(RuleName rule) {
    EndpointConfig place = config(kRate_Bps, kRate_Bps);
    place.rule = rule;
    place.capacity_Bps_of_host = {kRate_Bps, kRate_Bps, kRate_Bps};
    return place;
  }

  void step(double direct_Bps) {
    while (!arrivals_.empty() && arrivals_.begin()->first <= now_) {
      const Departure departure = arrivals_.begin()->second;
      buffer_.acknowledge(ack(departure), arrivals_.begin()->first);
      const std::uint64_t number = departure.header.message;
      // Segments may be sent twice.
      auto& here = segments_here_[number];
      const bool is_new = here.insert(departure.header.offset_bytes).second;
      if (is_new && here.size() == kSegments) passed_[index_of_[number]].received = now_;
      arrivals_.erase(arrivals_.begin());
    }
    buffer_.expire(now_);
    buffer_.leave_late(now_);
    if (may_send()) send(direct_Bps);
    while (auto departure = buffer_.next(now_, OwnRouter::ready)) {
      const std::size_t path = departure->header.num_hops - std::size_t{1};
      const double bytes = departure->header.segment_bytes;
      if (path == 0) direct_bytes_ += bytes;
      arrivals_.emplace(carried(path, bytes, path == 0 ? direct_Bps : kRate_Bps), *departure);
    }
  }

  // All that the host sends passes its interface, then its path. @return when it is there
  Time carried(std::size_t path, double bytes, double rate_Bps) {
    interface_free_ = std::max(now_, interface_free_) + time_of(bytes, kRate_Bps);
    Time& free = free_at_[path];
    free = std::max(interface_free_, std::max(now_, free) + time_of(bytes, rate_Bps));
    return free;
  }

  // What the rank itself receives comes as fast as the ring is without the fallen pair.
  [[nodiscard]] bool may_send() {
    const auto is_here = [&](std::size_t index) {
      return passed_[index].received != Time{} && passed_[index].received <= now_;
    };
    while (first_ahead_ < passed_.size() && is_here(first_ahead_)) ++first_ahead_;
    return now_ >= next_send_ && passed_.size() - first_ahead_ < kMaxAhead;
  }

  void send(double direct_Bps) {
    const std::size_t index = passed_.size();
    const TransferMode mode = buffer_.mode_to(1, kBytes, now_);
    passed_[index].sent = now_;
    next_send_ = now_ + time_of(kBytes, kRate_Bps);
    if (mode == TransferMode::mpi) {
      passed_[index].received = carried(0, kBytes, direct_Bps);
      direct_bytes_ += kBytes;
      // The MPI's send is over when the receiver has it.
      next_send_ = std::max(next_send_, passed_[index].received);
      return;
    }
    const std::uint64_t number = buffer_.add(1, payload(kBytes), mode, now_);
    index_of_[number] = index;
    // The receiver has posted its receive.
    buffer_.match(1, number);
  }

  SendBuffer buffer_;
  Time now_ = kStart;
  Time next_send_ = kStart;
  Time interface_free_ = kStart;
  std::array<Time, 2> free_at_{kStart, kStart};
  std::multimap<Time, Departure> arrivals_;
  std::map<std::size_t, Passed> passed_;
  std::size_t first_ahead_ = 0;
  std::map<std::uint64_t, std::size_t> index_of_;
  std::map<std::uint64_t, std::set<std::uint64_t>> segments_here_;
  double direct_bytes_ = 0.0;
};

double longest_s(const std::vector<Passed>& passed) {
  double most_s = 0.0;
  for (const Passed& each : passed) {
    most_s = std::max(most_s, std::chrono::duration<double>(each.received - each.sent).count());
  }
  return most_s;
}

}  // namespace

TEST_CASE("falling path: a ring leaves it within a second, and stays away") {
  // It may fall at any moment of a message, and soon after a pause that was no fall.
  const auto steady = milliseconds(GENERATE(3000, 3004, 3011, 5000));
  const bool has_pause = GENERATE(false, true);
  Ring ring(RuleName::trials);
  ring.run(milliseconds(2000), kRate_Bps);
  if (has_pause) ring.run(milliseconds(500), kRate_Bps, milliseconds(400));
  ring.run(has_pause ? milliseconds(100) : steady, kRate_Bps);

  ring.run(milliseconds(1000), kFallen_Bps);
  const Time second = ring.now();
  ring.run(milliseconds(9000), kFallen_Bps);

  const auto later = ring.since(second);
  INFO(steady.count() << " " << has_pause);
  // By the relay a message takes 18 ms, and up to five wait for each other; 350 ms on the path.
  CHECK(later.size() > 400);
  CHECK(longest_s(later) < 0.35);
}

TEST_CASE("falling path: a steady ring stays with the MPI, also where it pauses") {
  Ring ring(RuleName::trials);
  ring.run(milliseconds(2000), kRate_Bps);
  const double before = ring.direct_bytes();
  const Time begin = ring.now();
  for (int pause = 0; pause < 10; ++pause) {
    ring.run(milliseconds(1000), kRate_Bps, milliseconds(300));
  }
  const auto passed = ring.since(begin);
  CHECK(ring.direct_bytes() - before > 0.97 * kBytes * static_cast<double>(passed.size()));
}

TEST_CASE("falling path: one that has recovered is taken again") {
  Ring ring(RuleName::trials);
  ring.run(milliseconds(3000), kRate_Bps);
  ring.run(milliseconds(3000), kFallen_Bps);
  ring.run(milliseconds(15000), kRate_Bps);
  const double before = ring.direct_bytes();
  const Time begin = ring.now();
  ring.run(milliseconds(3000), kRate_Bps);
  CHECK(ring.direct_bytes() - before >
        0.9 * kBytes * static_cast<double>(ring.since(begin).size()));
}
