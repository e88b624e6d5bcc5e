// SPDX-License-Identifier: Apache-2.0
// How fast a host computes: multiply-adds and memory bandwidth, of one core and of all.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
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

/// A rate with its 95 % interval; nan where there are too few passes for one.
struct RateEstimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// Passes of one host that have an interval of a useful width.
inline constexpr int kNumHostPasses = 6;

/// The geometric mean of each rate over passes at different times, and its interval by Student's
/// distribution. What else runs on the host at times shows as the interval's width.
/// @param passes  `kNumHostPasses` of them
[[nodiscard]] std::array<RateEstimate, kNumHostRates> estimate_rates(
    std::span<const HostPass> passes);

/// Measures the host that it runs on, by threads that end before a pass returns. All time counts
/// from the first slice to the last, whether threads run or not: where a quota or other processes
/// stop them, ranks will be stopped, too.
class HostBenchmark {
 public:
  /// @param num_cores  threads for the rates of all cores, >= 1
  /// @param memory_bytes  all arrays together
  HostBenchmark(int num_cores, std::size_t memory_bytes);
  ~HostBenchmark();
  HostBenchmark(HostBenchmark&&) noexcept;
  HostBenchmark& operator=(HostBenchmark&&) noexcept;

  /// A slice of each rate. Where a quota stops the last thread, the slice lasts until it runs
  /// again.
  [[nodiscard]] HostPass pass(double slice_s);

 private:
  class Worker;
  struct Workers;
  std::unique_ptr<Workers> workers_;
};

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
