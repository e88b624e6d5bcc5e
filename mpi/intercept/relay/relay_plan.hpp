// SPDX-License-Identifier: Apache-2.0
// Reads the plan of the feature. Pure: no MPI, no files (format: docs/reference/plan.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/network_plan.hpp"
#include "routing/host_path.hpp"
#include "routing/rule_settings.hpp"
#include "wire/proof.hpp"

namespace fairlead::intercept::relay {

using fairlead::relay::HostPath;
using fairlead::relay::RuleName;
using fairlead::relay::Zones;

struct RelayPlan {
  NetworkPlan network;
  fairlead::relay::Key key{};
  /// Messages of at least this size may go by routers.
  std::uint64_t threshold_bytes = 0;
  /// They always do, for tests.
  bool is_forced = false;
  /// The rule by which messages take paths.
  RuleName rule = RuleName::trials;
  Zones zones{};
  /// Whether the messages are those of a rehearsal.
  bool is_rehearsal = false;
  /// For each host the socket of its router, and the address by which others reach it.
  std::vector<std::string> socket_of_host{};
  std::vector<std::string> address_of_host{};
  /// [src][dst]: the direct path first.
  std::vector<std::vector<std::vector<HostPath>>> paths{};
  /// [src][dst]: what all paths of the pair can carry together.
  std::vector<std::vector<double>> capacity_Bps{};
  /// [src][dst]: what a segment takes, for the rule `mcm`; else empty.
  std::vector<std::vector<double>> segment_s_of_link{};
};

/// @throws InputError "FILE: FIELD: ..." for the first thing that is wrong; never the key
[[nodiscard]] RelayPlan parse_relay_plan(const PlanFile& network, const PlanFile& relay);

}  // namespace fairlead::intercept::relay
