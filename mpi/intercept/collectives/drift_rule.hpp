// SPDX-License-Identifier: Apache-2.0
// When collectives of a running program count as drifted, and what looking after them may cost.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace fairlead::intercept {

/// What times are compared with.
enum class Expected : std::uint8_t {
  measured,   ///< earlier times of the same calls in this run
  predicted,  ///< the schedule's predicted time, as in CMPI (section 5.1)
};

struct DriftRule {
  /// Further from the expected time than this is worth a look at the network; infinite: nothing is.
  double max_ratio = std::numeric_limits<double>::infinity();
  Expected expected = Expected::measured;
  /// Part of the program's time: half of it for agreements on times, half for probes, new schedules
  /// and what calls by them take longer.
  double max_cost_ratio = 0.005;

  [[nodiscard]] bool is_on() const { return std::isfinite(max_ratio); }
};

}  // namespace fairlead::intercept
