// SPDX-License-Identifier: Apache-2.0
// All rules by which messages take paths.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "routing/link_table.hpp"
#include "routing/path_rule.hpp"
#include "routing/rule_settings.hpp"

namespace fairlead::relay {

[[nodiscard]] std::optional<RuleName> parse_rule_name(std::string_view text);

/// The paths among which a rule chooses: those of the plan, and for `trials` the direct path once
/// more for each further connection. With many hosts there are fewer further connections.
/// @param planned  the direct one first
[[nodiscard]] std::vector<HostPath> with_connections(RuleName name, std::vector<HostPath> planned,
                                                     std::size_t num_hosts);

/// The rule `trials` for messages to one host.
/// @param paths        by `with_connections`
/// @param capacity_Bps  what all of them can carry together
/// @param is_rehearsal  as of TrialRule
[[nodiscard]] std::unique_ptr<PathRule> make_trial_rule(const std::vector<HostPath>& paths,
                                                        double capacity_Bps, Time now,
                                                        bool is_rehearsal);

/// The rule `mcm` for messages to one host; arguments as of McmRule.
[[nodiscard]] std::unique_ptr<PathRule> make_mcm_rule(const std::vector<HostPath>& paths,
                                                      const Zones& zones,
                                                      std::shared_ptr<const LinkTable> links,
                                                      std::uint16_t host, std::uint32_t seed);

}  // namespace fairlead::relay
