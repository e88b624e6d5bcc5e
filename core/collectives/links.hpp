// SPDX-License-Identifier: Apache-2.0
// A measured network as collectives see it: every capacity known, and who shares what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/mapping/placement_cost.hpp"

namespace fairlead::collectives {

/// Capacities of all pairs, NICs and groups. Where a NIC was not measured, it carries what the
/// fastest pair through it does. It looks at the matrices, it does not own them.
class Links {
 public:
  /// @throws TopologyError  a pair was not measured
  explicit Links(const MeasuredNetwork& network);

  [[nodiscard]] std::size_t num_hosts() const { return network_.latency_s.num_hosts; }
  [[nodiscard]] double latency_s(std::size_t src, std::size_t dst) const {
    return network_.latency_s(src, dst);
  }
  /// Rows first, [src, dst].
  [[nodiscard]] std::span<const double> latencies_s() const { return network_.latency_s.values; }
  /// What one flow alone gets: the least of the pair, both NICs and the groups.
  [[nodiscard]] double bandwidth_Bps(std::size_t src, std::size_t dst) const {
    return alone_Bps_[src * num_hosts() + dst];
  }
  [[nodiscard]] double transfer_s(std::size_t src, std::size_t dst, double num_bytes) const {
    return latency_s(src, dst) + num_bytes / bandwidth_Bps(src, dst);
  }
  [[nodiscard]] double out_Bps(std::size_t host) const { return out_Bps_[host]; }
  [[nodiscard]] double in_Bps(std::size_t host) const { return in_Bps_[host]; }

  [[nodiscard]] std::size_t num_groups() const { return network_.groups.capacity_Bps.size(); }
  [[nodiscard]] double group_Bps(std::size_t group) const {
    return network_.groups.capacity_Bps[group];
  }
  /// Groups that the pair shares a bottleneck with.
  [[nodiscard]] std::span<const std::int32_t> groups(std::size_t src, std::size_t dst) const {
    if (group_of_entry_.empty()) return {};
    const std::size_t pair = src * num_hosts() + dst;
    return std::span(group_of_entry_)
        .subspan(first_entry_[pair], first_entry_[pair + 1] - first_entry_[pair]);
  }
  /// The most that any pair has.
  [[nodiscard]] std::size_t max_groups_of_pair() const { return max_groups_of_pair_; }

 private:
  MeasuredNetwork network_;
  std::vector<double> out_Bps_, in_Bps_, alone_Bps_;
  std::vector<std::uint32_t> first_entry_;  // length H * H + 1, or empty without groups
  std::vector<std::int32_t> group_of_entry_;
  std::size_t max_groups_of_pair_ = 0;
};

}  // namespace fairlead::collectives
