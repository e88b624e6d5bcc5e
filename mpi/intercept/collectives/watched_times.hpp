// SPDX-License-Identifier: Apache-2.0
// How long calls by one schedule take, beside how long they should. Pure: no MPI, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fairlead::intercept {

/// Times of the calls that follow one schedule. Ranks count the same calls, so they are due for an
/// agreement at the same call.
class WatchedTimes {
 public:
  /// @param predicted_s  0: nothing is known, so nothing is watched
  /// @param is_known  false: the first window says what to expect
  WatchedTimes(double predicted_s, bool is_known);

  [[nodiscard]] bool is_on() const { return interval_ > 0; }

  void add(double call_s) {
    times_s_[num_calls_ % times_s_.size()] = static_cast<float>(call_s);
    ++num_calls_;
  }
  [[nodiscard]] bool is_due() const { return num_calls_ >= interval_; }
  /// Of the last calls on this rank.
  [[nodiscard]] double median_s() const;

  /// Whether the agreed time of a window is further from the expected one than the ratio. First the
  /// predicted time is expected, and within a factor of kMaxFirstFactor the first window's time
  /// from then on: predictions know no cost of a message but latency and bytes.
  [[nodiscard]] bool has_drifted(double agreed_s, double max_drift_ratio);
  /// From now on calls are expected to take this long.
  void expect(double agreed_s) {
    expected_s_ = agreed_s;
    is_measured_ = true;
  }

  /// Begins the next window. It is so long that agreements take at most kMaxCostRatio of the
  /// calls' time.
  /// @param agreement_s, call_s  the same on all ranks; 0: unknown
  void begin_window(double agreement_s, double call_s);

  static constexpr double kMaxCostRatio = 0.0025;
  static constexpr double kMaxFirstFactor = 2.0;

 private:
  std::array<float, 64> times_s_{};
  std::uint64_t num_calls_ = 0;
  std::uint64_t interval_ = 0;
  double expected_s_ = 0.0;   ///< 0: the first window says
  bool is_measured_ = false;  ///< else predicted
};

}  // namespace fairlead::intercept
