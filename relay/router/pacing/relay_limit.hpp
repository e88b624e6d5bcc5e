// SPDX-License-Identifier: Apache-2.0
// How much a host may relay for others without slowing down the other jobs on it. Pure: no sockets,
// no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>

#include "router/pacing/kernel_counters.hpp"

namespace fairlead::router {

/// What passed the interface in one interval.
struct Passed {
  double seconds = 0.0;
  InterfaceBytes all{};
  /// The part of the jobs for which this host relays: their own messages, and what is relayed.
  InterfaceBytes served{};
  /// The part of that which this host sent for other hosts.
  std::uint64_t relayed_bytes = 0;
};

/// Additive increase, multiplicative decrease (Chiu and Jain 1989), like TCP's, but before packets
/// are lost: by how busy the interface is. Connections of other jobs can grow into the rate that is
/// left.
class RelayLimit {
 public:
  /// Ratios are of the most that the interface has carried in an interval.
  static constexpr double kBusyRatio = 0.9;
  /// Other jobs whose traffic is less do not need the interface.
  static constexpr double kIdleRatio = 0.1;
  /// Least rate of relayed frames, so that waiting frames still proceed.
  static constexpr double kLeastRatio = 0.01;
  static constexpr double kIncreaseRatio = 0.02;
  static constexpr double kDecrease = 0.5;
  /// If the interface carries this much more than ever before, it was not full.
  static constexpr double kNewPeak = 1.05;
  /// For this many intervals the bytes that sockets have given to a queue of the system count as in
  /// transit to the interface.
  static constexpr std::size_t kQueuedIntervals = 20;

  void update(const Passed& passed);
  /// Limit for all relayed frames together; infinity: no limit.
  [[nodiscard]] double rate_Bps() const { return rate_Bps_; }
  [[nodiscard]] bool is_limited() const { return rate_Bps_ < kUnlimited; }

 private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  struct Direction {
    double peak_Bps = 0.0;
    double last_others_Bps = 0.0;
    /// Bytes that passed the interface less those served, in all intervals; and their earlier
    /// values.
    double rest_bytes = 0.0;
    std::deque<double> former_rest_bytes{0.0};
    bool is_busy = false;
    /// Whether other jobs had less than kIdleRatio in the last two intervals, and in one of them.
    bool are_others_idle = true;
    bool may_others_be_idle = true;

    void update(double seconds, std::uint64_t all_bytes, std::uint64_t served_bytes);
    [[nodiscard]] double others_bytes(double passed_bytes);
  };

  Direction in_;
  Direction out_;
  double rate_Bps_ = kUnlimited;
};

}  // namespace fairlead::router
