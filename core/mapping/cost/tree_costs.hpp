// SPDX-License-Identifier: Apache-2.0
// Costs on a tree of hosts, without a matrix of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/mapping/optimize.hpp"

namespace fairlead::optimizing {

/// Costs between the leaves of a tree, scaled so that the highest is 1.
class TreeCosts {
 public:
  /// @pre checked: groups are nested, costs do not fall and are not all 0
  explicit TreeCosts(const HostTree& tree);

  [[nodiscard]] std::int32_t num_hosts() const { return num_hosts_; }
  [[nodiscard]] static constexpr bool is_symmetric() { return true; }
  [[nodiscard]] float operator()(std::int32_t src, std::int32_t dst) const {
    if (src == dst) return cost_of_level_[0];
    std::size_t level = 0;
    while (level < num_levels_ && group(level, src) != group(level, dst)) ++level;
    return cost_of_level_[level + 1];
  }
  /// Hosts of the same lowest group, itself among them.
  [[nodiscard]] std::span<const std::int32_t> near(std::int32_t host) const;
  /// All hosts, the groups of every level together.
  [[nodiscard]] std::span<const std::int32_t> in_tree_order() const { return order_; }

 private:
  [[nodiscard]] std::int32_t group(std::size_t level, std::int32_t host) const {
    return group_of_host_[level * static_cast<std::size_t>(num_hosts_) +
                          static_cast<std::size_t>(host)];
  }

  std::int32_t num_hosts_;
  std::size_t num_levels_;
  std::vector<std::int32_t> group_of_host_;  // (L, H)
  std::vector<float> cost_of_level_;
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> first_near_, end_near_;  // in order_, of each host's lowest group
};

}  // namespace fairlead::optimizing
