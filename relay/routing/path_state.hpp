// SPDX-License-Identifier: Apache-2.0
// A sender's estimates of one path to one host.
#pragma once

#include <chrono>
#include <cstdint>

#include "routing/host_path.hpp"

namespace fairlead::relay {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

struct PathState {
  /// A path that was idle for this long may have its planned rate again.
  static constexpr std::chrono::seconds kForgetTime{2};
  /// How long a path that does not answer is closed the first time.
  static constexpr std::chrono::milliseconds kFirstClosing{500};

  HostPath planned{};
  /// Bytes that are not acknowledged.
  std::uint64_t in_flight_bytes = 0;
  /// Estimated from acks; at first the planned one.
  double rate_Bps = 0.0;
  /// The planned latency, plus the time for which frames wait at routers for those of other
  /// processes. It is estimated from the times of each hop that acks return.
  double latency_s = 0.0;
  /// Whether acks have given a rate or a latency.
  bool has_learned = false;
  Time last_used{};
  Time closed_until{};
  std::chrono::milliseconds next_closing = kFirstClosing;
  std::uint64_t sent_bytes = 0;

  /// The state of a path before its first message, by the plan.
  [[nodiscard]] static PathState by(const HostPath& path, Time now);
  /// For a connection with the receiver that was not used yet.
  [[nodiscard]] static PathState without_routers(Time now);

  /// False for some time after the path did not answer.
  [[nodiscard]] bool is_open(Time now) const { return now >= closed_until; }
  /// Whether one more segment would be sent at once, and not wait in a queue.
  [[nodiscard]] bool has_space(std::uint64_t bytes) const;
  /// Whether it was idle for so long that its estimates may be out of date.
  [[nodiscard]] bool is_stale(Time now) const;

  /// When a segment that is sent now would arrive.
  [[nodiscard]] double expected_s(std::uint64_t bytes) const;
  /// The same, but a path that was idle gets one segment as if it were as planned. Its estimates
  /// hold until the ack of this segment.
  [[nodiscard]] double optimistic_s(std::uint64_t bytes, Time now) const;
  /// The same for a segment that does not wait for those in flight.
  [[nodiscard]] double unqueued_s(std::uint64_t bytes, Time now) const;

  /// A segment was acknowledged.
  /// @param bytes_ahead  that were in flight as it was sent, with its own
  /// @param held_s  that routers held it up because of frames of other processes
  void learn(std::uint64_t bytes, std::uint64_t bytes_ahead, double took_s, double held_s);
  /// A segment has no ack after this time.
  /// @param bytes_ahead  as above
  void learn_late(std::uint64_t bytes_ahead, double seconds);
  /// It does not answer: it is closed for a while, for longer each time.
  void close(Time now);
};

}  // namespace fairlead::relay
