// SPDX-License-Identifier: Apache-2.0
// How much a host may relay for others without slowing down its own traffic. Pure: no sockets, no
// clock.
#pragma once

#include <cstdint>
#include <limits>

#include "kernel_counters.hpp"

namespace fairlead::router {

/// What passed the interface in one interval.
struct Passed {
  double seconds = 0.0;
  InterfaceBytes all{};
  /// The part that this host relayed.
  InterfaceBytes relayed{};
};

/// Additive increase, multiplicative decrease (Chiu and Jain 1989), like TCP's, but before packets
/// are lost: by how busy the interface is. The room that is left is what the host's own connections
/// grow into.
class RelayLimit {
 public:
  /// Ratios are of the most that the interface has carried in an interval.
  static constexpr double kBusyRatio = 0.9;
  /// A host whose own traffic is less does not need its interface.
  static constexpr double kIdleRatio = 0.1;
  /// Relayed all the same, so that what waits here goes on.
  static constexpr double kLeastRatio = 0.01;
  static constexpr double kIncreaseRatio = 0.02;
  static constexpr double kDecrease = 0.5;
  /// What is so much more than ever before shows that there was room.
  static constexpr double kNewPeak = 1.05;

  void note(const Passed& passed);
  /// Of all relayed frames together; infinity: no limit.
  [[nodiscard]] double rate_Bps() const { return rate_Bps_; }
  [[nodiscard]] bool is_limited() const { return rate_Bps_ < kUnlimited; }

 private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  struct Direction {
    double peak_Bps = 0.0;
    double last_own_Bps = 0.0;
    bool is_busy = false;
    bool is_own_idle = true;

    void note(double all_Bps, double relayed_Bps);
  };

  Direction in_;
  Direction out_;
  double rate_Bps_ = kUnlimited;
};

}  // namespace fairlead::router
