// SPDX-License-Identifier: Apache-2.0
// What a process has to know to send by routers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/relay/proof.hpp"

namespace fairlead::intercept::relay {

/// What MCM's table knows of a path (mcm_rule.hpp).
enum class PathUse : std::uint8_t {
  none,
  /// It was searched, and messages do not take it yet.
  found,
  /// Messages take it while latency is high.
  open,
  /// Messages take it while latency is acceptable.
  standard,
};

/// One way to a host: the routers after the own one, the last of them at the host itself.
struct Route {
  std::vector<std::uint16_t> hops{};
  double latency_s = 0.0;
  double bandwidth_Bps = 0.0;
  /// Which of the connections between routers it takes.
  std::uint8_t connection = 0;
  /// By an earlier run.
  PathUse use = PathUse::none;

  [[nodiscard]] bool is_direct() const { return hops.size() == 1; }
};

/// Where a process listens for those whose router is gone.
struct Address {
  std::string host;
  std::uint16_t port = 0;
};

/// The rule by which messages take paths (path_rules.hpp).
enum class RuleName : std::uint8_t {
  /// Whole messages on each way are tried now and then (trial_rule.hpp).
  trials,
  /// MCM's zones and thresholds (mcm_rule.hpp).
  mcm,
};

/// Where the zones of `mcm` begin, as times of what a message takes without load on the pair's best
/// path.
struct Zones {
  double medium_ratio = 2.0;
  double high_ratio = 4.0;
};

struct MessengerSite {
  fairlead::relay::Key key{};
  std::uint32_t rank = 0;
  std::uint16_t host = 0;
  /// The hosts of all ranks.
  std::vector<std::uint16_t> host_of_rank{};
  /// Path of the own router's socket.
  std::string socket{};
  /// Routes to each host, the direct one first; none to the own host.
  std::vector<std::vector<Route>> routes_of_host{};
  /// What all routes to a host can carry together.
  std::vector<double> capacity_Bps_of_host{};
  RuleName rule = RuleName::trials;
  Zones zones{};
  /// [src][dst]: what a segment of kMaxSegmentBytes takes, for the rule `mcm`; else empty.
  std::vector<std::vector<double>> segment_s_of_link{};
};

}  // namespace fairlead::intercept::relay
