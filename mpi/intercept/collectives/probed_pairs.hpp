// SPDX-License-Identifier: Apache-2.0
// What a probe in the middle of a program has found.
#pragma once

#include <vector>

namespace fairlead::intercept {

/// What pairs do now, shape (H, H), [src, dst]; 0 where a pair was not measured.
struct ProbedPairs {
  std::vector<double> latency_s{};
  std::vector<double> bandwidth_Bps{};
  double pause_s = 0.0;  ///< how long the slowest rank was held up
};

}  // namespace fairlead::intercept
