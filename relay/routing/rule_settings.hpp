// SPDX-License-Identifier: Apache-2.0
// The rule that selects paths, and its settings in the plan.
#pragma once

#include <cstdint>

namespace fairlead::relay {

/// The rule by which messages take paths (path_rules.hpp).
enum class RuleName : std::uint8_t {
  /// Compares whole messages in each mode from time to time (trial_rule.hpp).
  trials,
  /// MCM's zones and thresholds (mcm_rule.hpp).
  mcm,
};

/// Where the zones of `mcm` begin, as multiples of the time that a message takes without load on
/// the pair's best path.
struct Zones {
  double medium_ratio = 2.0;
  double high_ratio = 4.0;
};

}  // namespace fairlead::relay
