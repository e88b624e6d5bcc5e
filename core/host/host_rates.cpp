// SPDX-License-Identifier: Apache-2.0
// Means and intervals of logarithms: what disturbs a host takes a part of its rate.
#include "fairlead/host/host_rates.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace fairlead {

std::array<RateEstimate, kNumHostRates> estimate_rates(std::span<const HostPass> passes) {
  // The 97.5 % quantile of Student's distribution with kNumHostPasses - 1 degrees of freedom.
  constexpr double kStudent = 2.5706;
  assert(passes.size() == kNumHostPasses);
  std::array<RateEstimate, kNumHostRates> estimates{};
  for (std::size_t rate = 0; rate < kNumHostRates; ++rate) {
    const auto is_rate = [rate](const HostPass& pass) {
      return std::isfinite(pass[rate]) && pass[rate] > 0;
    };
    if (!std::ranges::all_of(passes, is_rate)) continue;  // unknown
    double mean = 0.0, squares = 0.0;
    for (const HostPass& pass : passes) mean += std::log(pass[rate]) / kNumHostPasses;
    for (const HostPass& pass : passes) squares += std::pow(std::log(pass[rate]) - mean, 2);
    const double error = std::sqrt(squares / (kNumHostPasses * (kNumHostPasses - 1)));
    estimates[rate] = {.value = std::exp(mean),
                       .low = std::exp(mean - kStudent * error),
                       .high = std::exp(mean + kStudent * error)};
  }
  return estimates;
}

}  // namespace fairlead
