// SPDX-License-Identifier: Apache-2.0
// CMPI's discretisation: level l holds the values from l to l + 1 times k times the least.
#include "collectives/cmpi/discretisation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fairlead/collectives/hierarchy.hpp"

namespace fairlead::collectives {
namespace {

/// A quotient that is whole but for rounding counts as whole.
constexpr double kQuotientRounding = 1e-12;

double least_positive(std::span<const double> values, std::size_t num_hosts) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t pair = 0; pair < values.size(); ++pair) {
    if (pair % (num_hosts + 1) != 0 && values[pair] > 0.0) least = std::min(least, values[pair]);
  }
  return least;
}

}  // namespace

std::int32_t discrete_level(double value, double least, double factor) {
  if (!(value > 0.0) || !(least > 0.0)) return 0;
  constexpr auto kHighest = std::numeric_limits<std::int32_t>::max();
  const double level = std::floor(value / (factor * least) * (1.0 + kQuotientRounding));
  return level < kHighest ? static_cast<std::int32_t>(level) : kHighest;
}

std::vector<std::int32_t> discretised(std::span<const double> values, std::size_t num_hosts,
                                      double factor) {
  const double least = least_positive(values, num_hosts);
  std::vector<std::int32_t> level_of_pair(values.size(), 0);
  for (std::size_t pair = 0; pair < values.size(); ++pair) {
    if (pair % (num_hosts + 1) == 0) continue;
    level_of_pair[pair] = discrete_level(values[pair], least, factor);
  }
  return level_of_pair;
}

double asymmetric_ratio(std::span<const std::int32_t> level_of_pair, std::size_t num_hosts) {
  std::size_t num_pairs = 0;
  std::size_t num_asymmetric = 0;
  for (std::size_t first = 0; first < num_hosts; ++first) {
    for (std::size_t second = 0; second < first; ++second) {
      ++num_pairs;
      if (level_of_pair[first * num_hosts + second] != level_of_pair[second * num_hosts + first]) {
        ++num_asymmetric;
      }
    }
  }
  if (num_pairs == 0) return 0.0;
  return static_cast<double>(num_asymmetric) / static_cast<double>(num_pairs);
}

}  // namespace fairlead::collectives
