// SPDX-License-Identifier: Apache-2.0
// What all ranks of a communicator agree on about the times of their calls, and what this process
// knows of the network since the program began.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "collectives/pair_probe.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "members.hpp"
#include "plan/network_plan.hpp"

namespace fairlead::intercept {

/// One rank's part of an agreement.
struct OwnTimes {
  double call_s = 0.0;       ///< median of the last calls
  double agreement_s = 0.0;  ///< what the last agreement took; 0: there was none
  double wait_s = 0.0;       ///< until a probe is allowed; not positive: it is
  bool is_outdated = false;  ///< the schedules were planned on an older network
};

/// The same on all ranks.
struct AgreedTimes {
  double call_s = 0.0;
  double agreement_s = 0.0;
  bool may_probe = false;
  bool is_outdated = false;
};

/// Which rank's time counts: where all wait for all it is the shortest, as the rank that comes last
/// waits for nobody; with a root it is the longest, as some ranks leave early. Collective.
/// @throws MpiFailure
[[nodiscard]] AgreedTimes agree_on_times(fairlead::collectives::Members& members,
                                         fairlead::collectives::Operation operation,
                                         const OwnTimes& own);

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
