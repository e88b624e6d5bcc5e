// SPDX-License-Identifier: Apache-2.0
// The plan's files for placing ranks: what a message costs between hosts, and by what names a
// process finds its own host among them. Pure: no MPI, no files (format: docs/reference/plan.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead::intercept {

/// One file of the plan. Its name stands in every error.
struct PlanFile {
  std::string name;
  std::string text;
};

/// What placing ranks needs of the plan: hosts by name, and the cost of a message between them.
struct ReorderPlan {
  /// All names of each host: host name first, then further ones and addresses.
  std::vector<std::vector<std::string>> names_of_host;
  /// Seconds of one message of the plan's size, (H, H), rows first, [src, dst].
  std::vector<double> message_s;

  [[nodiscard]] std::size_t num_hosts() const { return names_of_host.size(); }
  [[nodiscard]] HostMatrix cost() const { return {num_hosts(), message_s}; }
};

inline constexpr int kUnknownHost = -1;

/// Reads both files.
/// @throws InputError  "FILE:LINE: ..." for the first thing that is wrong
[[nodiscard]] ReorderPlan parse_reorder_plan(const PlanFile& network, const PlanFile& reorder);

/// Index of the only host that fits, or kUnknownHost: by the node name, by its first label ("n1" is
/// "n1.site.org"), by an address.
/// @param own_names  the node name, then addresses
[[nodiscard]] int find_host(const ReorderPlan& plan, std::span<const std::string> own_names);

}  // namespace fairlead::intercept
