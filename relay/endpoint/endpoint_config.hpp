// SPDX-License-Identifier: Apache-2.0
// What a process needs to send by routers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "routing/host_path.hpp"
#include "routing/rule_settings.hpp"
#include "wire/proof.hpp"

namespace fairlead::relay {

/// Where a process accepts connections of those whose router has ended.
struct Address {
  std::string host;
  std::uint16_t port = 0;
};

struct EndpointConfig {
  Key key{};
  std::uint32_t rank = 0;
  std::uint16_t host = 0;
  /// The hosts of all ranks.
  std::vector<std::uint16_t> host_of_rank{};
  /// File of the socket of this host's router.
  std::string socket{};
  /// Paths to each host, the direct one first; none to this host.
  std::vector<std::vector<HostPath>> paths_of_host{};
  /// What all paths to a host can carry together.
  std::vector<double> capacity_Bps_of_host{};
  RuleName rule = RuleName::trials;
  Zones zones{};
  /// Whether the messages are those of a rehearsal. It pauses between series of messages, so the
  /// time between two messages does not depend on the network.
  bool is_rehearsal = false;
  /// [src][dst]: the time of a segment of kMaxSegmentBytes, for the rule `mcm`; otherwise empty.
  std::vector<std::vector<double>> segment_s_of_link{};
};

}  // namespace fairlead::relay
