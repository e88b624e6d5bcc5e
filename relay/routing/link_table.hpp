// SPDX-License-Identifier: Apache-2.0
// MCM's path table: the time of a segment from each host to each other one. The time of a path is
// the sum over its hops. The paper gives one number for a path by another node, and not how it was
// found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::relay {

/// A measured entry.
struct LinkLatency {
  std::uint16_t src;
  std::uint16_t dst;
  double latency_s;
};

/// Pure. A table without hosts learns nothing.
class LinkTable {
 public:
  LinkTable() = default;
  /// @param latency_s  [src][dst]: of a segment of kMaxSegmentBytes, > 0 but on the diagonal
  explicit LinkTable(std::vector<std::vector<double>> latency_s);

  [[nodiscard]] bool is_empty() const { return latency_s_.empty(); }
  /// The time of a segment from `src` by these hosts.
  [[nodiscard]] double path_s(std::uint16_t src, std::span<const std::uint16_t> hops) const;
  /// An ack has brought the time of a segment over each hop.
  /// @param hops_s  as many as hops
  void learn(std::uint16_t src, std::span<const std::uint16_t> hops,
             std::span<const double> hops_s);
  /// All that was learned.
  [[nodiscard]] std::vector<LinkLatency> measured() const;

 private:
  std::vector<std::vector<double>> latency_s_{};
  std::vector<std::vector<bool>> is_measured_{};
};

}  // namespace fairlead::relay
