// SPDX-License-Identifier: Apache-2.0
// How long calls by one schedule take, beside how long they should. Pure: no MPI, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/drift_rule.hpp"

namespace fairlead::intercept {

/// Times of the calls that follow one schedule. Ranks count the same calls, so they are due for an
/// agreement at the same call.
class WatchedTimes {
 public:
  /// Nothing is watched without a rule, or without a prediction, which is 0 then.
  WatchedTimes(double predicted_s, const DriftRule& rule);

  [[nodiscard]] bool is_on() const { return interval_ > 0; }

  void add(double call_s) {
    times_s_[num_calls_ % times_s_.size()] = static_cast<float>(call_s);
    ++num_calls_;
  }
  [[nodiscard]] bool is_due() const { return num_calls_ >= interval_; }
  [[nodiscard]] std::uint64_t num_calls() const { return num_calls_; }
  /// Of the last calls on this rank.
  [[nodiscard]] double median_s() const;

  /// Whether the agreed time of a window is further from the expected one than the rule allows.
  /// Unless the rule expects the predicted time, the first window says what to expect.
  [[nodiscard]] bool has_drifted(double agreed_s);
  /// From now on calls are expected to take this long, if measured times are.
  void expect(double agreed_s);
  /// Another schedule, or the same one on another network: nothing was measured yet.
  void restart(double predicted_s);

  /// Begins the next window. It is so long that agreements take at most half of what looking after
  /// the calls may cost.
  /// @param agreement_s, call_s  the same on all ranks; 0: unknown
  void begin_window(double agreement_s, double call_s);

 private:
  [[nodiscard]] std::uint64_t interval_of(double agreement_s, double call_s,
                                          double most_calls) const;

  DriftRule rule_;
  std::array<float, 64> times_s_{};
  std::uint64_t num_calls_ = 0;
  std::uint64_t interval_ = 0;
  double expected_s_ = 0.0;  ///< 0: the next window says
};

}  // namespace fairlead::intercept
