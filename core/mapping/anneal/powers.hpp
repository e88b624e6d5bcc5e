// SPDX-License-Identifier: Apache-2.0
// Eighth powers and roots: a norm of order 8 is close to the maximum, and falls with each large
// one.
#pragma once

#include <algorithm>
#include <cmath>

namespace fairlead::optimizing {

[[nodiscard]] inline double eighth_power(double value) {
  const double second = value * value, fourth = second * second;
  return fourth * fourth;
}

[[nodiscard]] inline double eighth_root(double value) {
  return std::sqrt(std::sqrt(std::sqrt(std::max(value, 0.0))));
}

}  // namespace fairlead::optimizing
