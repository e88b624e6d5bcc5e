// SPDX-License-Identifier: Apache-2.0
// The plan's network: the hosts, what lies between them, and by what names a process finds its own
// host among them. Pure: no MPI, no files (format: docs/reference/plan.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fairlead/mapping/placement_cost.hpp"

namespace fairlead::intercept {

/// One file of the plan. Its name stands in every error.
struct PlanFile {
  std::string name;
  std::string text;
};

inline constexpr int kUnknownHost = -1;

/// Directed pairs of hosts behind one bottleneck each.
struct BottleneckGroups {
  std::vector<std::int64_t> group_of_pair{};
  std::vector<std::int64_t> src_of_pair{};
  std::vector<std::int64_t> dst_of_pair{};
  std::vector<double> capacity_Bps{};
};

/// Matrices are (H, H), rows first, [src, dst].
struct NetworkPlan {
  /// All names of each host: host name first, then further ones and addresses.
  std::vector<std::vector<std::string>> names_of_host;
  std::vector<double> latency_s{};
  /// Infinite where nothing limits it.
  std::vector<double> bandwidth_Bps{};
  /// What each host sends or receives in all, `nan` where unknown; or empty.
  std::vector<double> nic_out_Bps{};
  std::vector<double> nic_in_Bps{};
  BottleneckGroups groups{};

  [[nodiscard]] std::size_t num_hosts() const { return names_of_host.size(); }

  /// As planning takes it.
  [[nodiscard]] MeasuredNetwork measured() const;

  /// Some of the hosts, in this order, which is their new numbering.
  [[nodiscard]] NetworkPlan select(std::span<const std::int32_t> hosts) const;
};

/// Reads `network.json`.
/// @throws InputError "FILE: FIELD: ..." for the first thing that is wrong
[[nodiscard]] NetworkPlan parse_network_plan(const PlanFile& file);

/// Index of the only host that fits, or kUnknownHost: by the node name, by its first label ("n1" is
/// "n1.site.org"), by an address.
/// @param own_names  the node name, then addresses
[[nodiscard]] int find_host(const NetworkPlan& plan, std::span<const std::string> own_names);

}  // namespace fairlead::intercept
