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
  void begin(const NetworkPlan& planned);

  /// Some of the hosts, as planning takes them.
  [[nodiscard]] NetworkPlan select(std::span<const std::int32_t> hosts) const;
  /// With what was probed, not yet kept.
  [[nodiscard]] NetworkPlan select_with(std::span<const std::int32_t> hosts,
                                        const ProbedPairs& probed) const;
  void keep(std::span<const std::int32_t> hosts, const ProbedPairs& probed);
  /// Grows with each probe that is kept.
  [[nodiscard]] int version() const;

  /// A probe of so long was made: all of them take at most kMaxProbeRatio of the time.
  void note_probe(double pause_s);
  [[nodiscard]] double wait_s() const;
  static constexpr double kMaxProbeRatio = 0.005;

 private:
  mutable std::mutex mutex_;  // guards all that follows
  NetworkPlan network_{};
  int version_ = 0;
  double next_probe_s_ = 0.0;
};

/// Of this program; never destroyed.
[[nodiscard]] CurrentNetwork& current_network();

}  // namespace fairlead::intercept
