// SPDX-License-Identifier: Apache-2.0
// The routers that a segment passes to a host.
#pragma once

#include <cstdint>
#include <vector>

namespace fairlead::relay {

/// How MCM's rule uses a path (mcm_rule.hpp).
enum class PathUse : std::uint8_t {
  none,
  /// A search has found it, and messages do not take it yet.
  found,
  /// Messages take it while latency is high.
  open,
  /// Messages take it while latency is acceptable.
  standard,
};

/// The routers after that of the sender's host; the last one is that of the destination.
struct HostPath {
  std::vector<std::uint16_t> hops{};
  double latency_s = 0.0;
  double bandwidth_Bps = 0.0;
  /// Which of the connections between routers it takes.
  std::uint8_t connection = 0;
  /// How an earlier run used it.
  PathUse use = PathUse::none;

  [[nodiscard]] bool is_direct() const { return hops.size() == 1; }
};

}  // namespace fairlead::relay
