// SPDX-License-Identifier: Apache-2.0
// What this process knows of the network since the program began.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "collectives/probed_pairs.hpp"
#include "plan/network_plan.hpp"

namespace fairlead::intercept {

/// The network as this process knows it. Communicators of several threads use it.
class CurrentNetwork {
 public:
  /// @param max_stop_ratio  how much of the time from now on the program may be held up
  void begin(const NetworkPlan& planned, double max_stop_ratio);

  /// Some of the hosts, as planning takes them.
  [[nodiscard]] NetworkPlan select(std::span<const std::int32_t> hosts) const;
  /// With what was probed, not yet kept.
  [[nodiscard]] NetworkPlan select_with(std::span<const std::int32_t> hosts,
                                        const ProbedPairs& probed) const;
  void keep(std::span<const std::int32_t> hosts, const ProbedPairs& probed);
  /// Grows with each probe that is kept.
  [[nodiscard]] int version() const;

  /// The program was held up for so long.
  void add_stop(double stop_s);
  /// Until it may be held up for so long; not positive: it may be now.
  [[nodiscard]] double wait_s(double stop_s) const;

 private:
  mutable std::mutex mutex_;  // guards all that follows
  NetworkPlan network_{};
  int version_ = 0;
  double max_stop_ratio_ = 0.0;
  double begin_s_ = 0.0;
  double stopped_s_ = 0.0;
};

/// The one of this program; never destroyed.
[[nodiscard]] CurrentNetwork& current_network();

}  // namespace fairlead::intercept
