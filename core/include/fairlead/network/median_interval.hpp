// SPDX-License-Identifier: Apache-2.0
// The median of a sample with a confidence interval that assumes no distribution.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace fairlead {

/// Ranks of two order statistics, counted from 0, symmetric about the middle.
struct OrderStatistics {
  int low;
  int high;
};

/// A median with its confidence interval; `low` and `high` are nan where the sample is too small.
struct MedianEstimate {
  double median = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  int num_samples = 0;

  /// Whether the interval is no wider than `target_ratio` times the median.
  [[nodiscard]] bool is_within(double target_ratio) const {
    return high - low <= target_ratio * median;  // false where nan
  }
};

/// The narrowest symmetric pair of order statistics that covers the median with at least
/// `confidence`: the number of values below the median is binomial(n, 1/2).
/// Source: Conover, Practical Nonparametric Statistics, section 3.2; David and Nagaraja, Order
/// Statistics, section 7.1.
/// @return nothing where even the smallest and largest value do not cover it (n < 6 for 0.95).
inline std::optional<OrderStatistics> median_interval_ranks(int num_samples, double confidence) {
  assert(confidence > 0 && confidence < 1);
  const double each_tail = (1 - confidence) / 2;
  const double n = num_samples;
  double tail = 0;
  int low = 0;
  for (; low < num_samples / 2; ++low) {
    const double k = low;
    // Through logarithms, because 2^-n alone underflows above a thousand samples.
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                     n * std::log(2.0));
    if (tail > each_tail) break;
  }
  if (low == 0) return std::nullopt;
  return OrderStatistics{low - 1, num_samples - low};
}

/// Median and its confidence interval.
/// @param values in any order, all finite; may be empty (all results are then nan).
/// @param confidence between 0 and 1.
inline MedianEstimate estimate_median(std::span<const double> values, double confidence = 0.95) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  MedianEstimate estimate;
  estimate.num_samples = static_cast<int>(sorted.size());
  if (sorted.empty()) return estimate;
  const std::size_t middle = sorted.size() / 2;
  estimate.median =
      sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  if (const auto ranks = median_interval_ranks(estimate.num_samples, confidence)) {
    estimate.low = sorted[static_cast<std::size_t>(ranks->low)];
    estimate.high = sorted[static_cast<std::size_t>(ranks->high)];
  }
  return estimate;
}

}  // namespace fairlead
