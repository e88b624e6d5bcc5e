// SPDX-License-Identifier: Apache-2.0
// The measurement of one pair: warm up, then sample until the medians are known well enough.
#pragma once

#include "fairlead/network/median_interval.hpp"
#include "pairs/exchange.hpp"

namespace fairlead::probe {

/// The result of one meeting. Latencies are half round trips, so they are the same both ways;
/// bandwidths are those of the median train. A metric without samples was not measured.
struct PairResult {
  int low = -1;
  int high = -1;
  MedianEstimate latency_s;
  MedianEstimate low_to_high_Bps;
  MedianEstimate high_to_low_Bps;
};

/// Measures as the leader, which is the lower rank. Sampling of a metric stops when its interval
/// is narrow enough, at the cap, or when another sample would not fit before `end_s`.
/// @param result filled with all that was measured.
/// @return false if the partner did not answer in time.
[[nodiscard]] bool measure(Exchange& exchange, const Options& options, double end_s,
                           PairResult& result);

}  // namespace fairlead::probe
