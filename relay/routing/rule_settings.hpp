// SPDX-License-Identifier: Apache-2.0
// Which rule chooses paths, and what the plan sets of it.
#pragma once

#include <cstdint>

namespace fairlead::relay {

/// The rule by which messages take paths (path_rules.hpp).
enum class RuleName : std::uint8_t {
  /// Whole messages in each mode are tried now and then (trial_rule.hpp).
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

}  // namespace fairlead::relay
