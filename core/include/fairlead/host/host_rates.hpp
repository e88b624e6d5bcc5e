// SPDX-License-Identifier: Apache-2.0
// How fast a host computes: what is measured, its estimate from passes, and the timed loops.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>

namespace fairlead {

/// What is measured, in this order.
enum class HostRate : std::size_t {
  one_core_multiply_adds,  ///< per second, double precision
  all_cores_multiply_adds,
  one_core_memory_Bps,  ///< counted as STREAM does
  all_cores_memory_Bps,
  count_
};
inline constexpr std::size_t kNumHostRates = static_cast<std::size_t>(HostRate::count_);

/// All rates of a host, once.
using HostPass = std::array<double, kNumHostRates>;

/// A rate with its 95 % interval; nan where it is unknown.
struct RateEstimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// Passes of one host that have an interval of a useful width.
inline constexpr int kNumHostPasses = 6;

/// The geometric mean of each rate over passes at different times, and its interval by Student's
/// distribution. What else runs on the host at times shows as the interval's width. A rate that is
/// unknown in one of the passes, or is not above 0, is unknown.
/// @param passes  `kNumHostPasses` of them
[[nodiscard]] std::array<RateEstimate, kNumHostRates> estimate_rates(
    std::span<const HostPass> passes);

/// Repeats `x = x * factor + summand` on each value.
/// @param values  a multiple of 16 of them
/// @return multiply-adds made: `values.size() * num_repeats`
double multiply_add(std::span<double> values, double factor, double summand, int num_repeats);

/// STREAM's triad: `a = b + scalar * c`.
/// @param a,b,c  of the same length
/// @return bytes counted: three values each. Source: McCalpin, STREAM (1995).
double triad(std::span<double> a, std::span<const double> b, std::span<const double> c,
             double scalar);

}  // namespace fairlead
