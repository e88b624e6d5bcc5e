// SPDX-License-Identifier: Apache-2.0
// The interval of the median against tables and against counting all cases.
#include "fairlead/network/median_interval.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "catch.hpp"

using fairlead::estimate_median;
using fairlead::median_interval_ranks;
using fairlead::OrderStatistics;

namespace {

/// Coverage of the ranks by counting: each value lies below or above the median with equal chance,
/// so each of the 2^n patterns of sides is as likely as any other.
double counted_coverage(int num_samples, OrderStatistics ranks) {
  const std::uint32_t num_patterns = 1u << num_samples;
  std::uint32_t num_covered = 0;
  for (std::uint32_t pattern = 0; pattern < num_patterns; ++pattern) {
    const int num_below = std::popcount(pattern);
    if (num_below > ranks.low && num_below <= ranks.high) ++num_covered;
  }
  return static_cast<double>(num_covered) / num_patterns;
}

}  // namespace

TEST_CASE("median interval: it covers enough, and a narrower one would not") {
  for (int num_samples = 1; num_samples <= 16; ++num_samples) {
    for (const double confidence : {0.5, 0.9, 0.95, 0.99}) {
      const auto ranks = median_interval_ranks(num_samples, confidence);
      if (!ranks) {
        REQUIRE(counted_coverage(num_samples, {0, num_samples - 1}) < confidence);
        continue;
      }
      REQUIRE(ranks->low + ranks->high == num_samples - 1);
      REQUIRE(counted_coverage(num_samples, *ranks) >= confidence);
      const OrderStatistics narrower{ranks->low + 1, ranks->high - 1};
      if (narrower.low <= narrower.high) {
        REQUIRE(counted_coverage(num_samples, narrower) < confidence);
      }
    }
  }
}

TEST_CASE("median interval: the ranks are those of the binomial quantiles") {
  // l = scipy.stats.binom.ppf(0.025, n, 0.5), SciPy 1.11: the largest l with P(X < l) <= 0.025.
  struct Row {
    int num_samples;
    int lower_count;
  };
  for (const Row row : {Row{6, 1}, Row{10, 2}, Row{12, 3}, Row{20, 6}, Row{30, 10}, Row{50, 18},
                        Row{100, 40}, Row{1000, 469}, Row{5000, 2431}}) {
    const auto ranks = median_interval_ranks(row.num_samples, 0.95);
    REQUIRE(ranks.has_value());
    REQUIRE(ranks->low == row.lower_count - 1);
    REQUIRE(ranks->high == row.num_samples - row.lower_count);
  }
}

TEST_CASE("median interval: five samples have none at 95 %, six have one") {
  REQUIRE_FALSE(median_interval_ranks(5, 0.95).has_value());
  REQUIRE(median_interval_ranks(6, 0.95).has_value());
}

TEST_CASE("median estimate: median and bounds are values of the sample") {
  const std::array values = {9.0, 1.0, 5.0, 3.0, 7.0, 2.0, 8.0};

  const auto estimate = estimate_median(values);

  REQUIRE(estimate.median == 5.0);
  REQUIRE(estimate.low == 1.0);
  REQUIRE(estimate.high == 9.0);
  REQUIRE(estimate.num_samples == 7);
}

TEST_CASE("median estimate: an even number of samples gives the middle of the middle two") {
  const std::array values = {4.0, 1.0, 2.0, 100.0};
  REQUIRE(estimate_median(values).median == 3.0);
}

TEST_CASE("median estimate: without samples nothing is known and nothing is precise") {
  const auto estimate = estimate_median({});
  REQUIRE(std::isnan(estimate.median));
  REQUIRE_FALSE(estimate.is_within(1e9));
}

TEST_CASE("median estimate: the width is relative to the median") {
  const std::array values = {95.0, 100.0, 100.0, 100.0, 100.0, 105.0};
  const auto estimate = estimate_median(values);
  REQUIRE(estimate.is_within(0.1));
  REQUIRE_FALSE(estimate.is_within(0.09));
}

TEST_CASE("median estimate: intervals of skewed samples cover the true median as promised") {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> skewed(1.0);
  int num_covered = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(15);
    for (double& value : values) value = skewed(random);
    const auto estimate = estimate_median(values);
    if (estimate.low <= std::log(2.0) && std::log(2.0) <= estimate.high) ++num_covered;
  }
  // 15 samples: ranks 4 and 12 cover with 0.9648 (binomial); 4000 trials vary by 0.003.
  REQUIRE(num_covered > 0.95 * kTrials);
  REQUIRE(num_covered < 0.98 * kTrials);
}
