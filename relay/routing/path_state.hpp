// SPDX-License-Identifier: Apache-2.0
// What a sender knows of one path to one host.
#pragma once

#include <chrono>
#include <cstdint>

#include "routing/host_path.hpp"

namespace fairlead::relay {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

struct PathState {
  /// A path that was idle for so long may have its rate of the plan again.
  static constexpr std::chrono::seconds kForgetTime{2};
  /// For so long a path that does not answer is closed at first.
  static constexpr std::chrono::milliseconds kFirstClosing{500};

  HostPath planned{};
  /// Bytes that are not acknowledged.
  std::uint64_t in_flight_bytes = 0;
  /// Learned from acks; at first that of the plan.
  double rate_Bps = 0.0;
  /// That of the plan, and what routers make frames wait for those of other processes: learned
  /// from the times of each hop that acks bring back.
  double latency_s = 0.0;
  /// Whether acks have given a rate or a latency.
  bool has_learned = false;
  Time last_used{};
  Time closed_until{};
  std::chrono::milliseconds next_closing = kFirstClosing;
  std::uint64_t sent_bytes = 0;

  /// By the plan.
  [[nodiscard]] static PathState by(const HostPath& path, Time now);
  /// A connection with the receiver, of which nothing is known.
  [[nodiscard]] static PathState without_routers(Time now);

  /// Whether it has not failed to answer, lately.
  [[nodiscard]] bool is_open(Time now) const { return now >= closed_until; }
  /// Whether one more segment keeps it busy rather than waits before it.
  [[nodiscard]] bool has_space(std::uint64_t bytes) const;
  /// Whether it was idle for so long that what is known of it may be old.
  [[nodiscard]] bool is_stale(Time now) const;

  /// When a segment would arrive that is sent now.
  [[nodiscard]] double expected_s(std::uint64_t bytes) const;
  /// The same, where a path that was idle is given one segment as if it were as planned: what is
  /// known of it counts until this one shows more.
  [[nodiscard]] double optimistic_s(std::uint64_t bytes, Time now) const;
  /// The same of a segment that does not wait for those in flight.
  [[nodiscard]] double unqueued_s(std::uint64_t bytes, Time now) const;

  /// A segment was acknowledged.
  /// @param bytes_ahead  that were in flight as it was sent, with its own
  /// @param held_s  that routers held it up because of frames of other processes
  void learn(std::uint64_t bytes, std::uint64_t bytes_ahead, double took_s, double held_s);
  /// A segment is not acknowledged after so long.
  /// @param bytes_ahead  as above
  void learn_late(std::uint64_t bytes_ahead, double seconds);
  /// It does not answer: it is left for a while, at each repetition for longer.
  void close(Time now);
};

}  // namespace fairlead::relay
