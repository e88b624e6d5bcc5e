// SPDX-License-Identifier: Apache-2.0
// What probes in the middle of a program have found.
#pragma once

#include <cstddef>
#include <vector>

namespace fairlead::intercept {

/// What pairs do now, shape (H, H), [src, dst]; 0 where a pair was not measured.
struct ProbedPairs {
  std::vector<double> latency_s{};
  std::vector<double> bandwidth_Bps{};
  double pause_s = 0.0;  ///< how long the slowest rank was held up
  int num_rounds = 0;    ///< so many were made

  /// Adds what a later probe of the same hosts has found.
  void add(const ProbedPairs& later) {
    latency_s.resize(later.latency_s.size());
    bandwidth_Bps.resize(later.bandwidth_Bps.size());
    for (std::size_t pair = 0; pair < bandwidth_Bps.size(); ++pair) {
      if (!(later.bandwidth_Bps[pair] > 0)) continue;
      latency_s[pair] = later.latency_s[pair];
      bandwidth_Bps[pair] = later.bandwidth_Bps[pair];
    }
  }
};

}  // namespace fairlead::intercept
