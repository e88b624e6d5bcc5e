// SPDX-License-Identifier: Apache-2.0
// How long calls by one schedule take, compared with the expected time. Pure: no MPI, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/drift_rule.hpp"

namespace fairlead::intercept {

/// Times of calls that follow one schedule: of each window at most `kMostTimed`, spread evenly, so
/// that of a short call hardly more than a counter is seen. Ranks count the same calls, so they
/// time the same ones, and are due for an agreement at the same call.
class WatchedTimes {
 public:
  /// Nothing is watched without a rule, or without a prediction, which is 0 then.
  WatchedTimes(double predicted_s, const DriftRule& rule);

  [[nodiscard]] bool is_on() const { return interval_ > 0; }

  static constexpr std::size_t kMostTimed = 64;

  /// Whether the next call is timed: then it is added, else counted.
  [[nodiscard]] bool is_timed_next() const { return num_calls_ == next_timed_; }
  void add(double call_s) {
    times_s_[num_timed_ % kMostTimed] = static_cast<float>(call_s);
    ++num_timed_;
    next_timed_ += stride_;
    ++num_calls_;
  }
  void count() { ++num_calls_; }
  [[nodiscard]] bool is_due() const { return num_calls_ >= interval_; }
  [[nodiscard]] std::uint64_t num_calls() const { return num_calls_; }
  /// Median of the calls of this window that were timed on this rank.
  [[nodiscard]] double median_s() const;

  /// Whether the agreed time of a window is further from the expected one than the rule allows.
  /// Unless the rule expects the predicted time, the first window says what to expect.
  [[nodiscard]] bool has_drifted(double agreed_s);
  /// From now on calls are expected to take this long, if measured times are.
  void expect(double agreed_s);
  /// Another schedule, or the same one on another network: nothing was measured yet.
  void restart(double predicted_s);

  /// Begins the next window. It is so long that timing its calls and agreeing on them take at most
  /// half of what looking after the calls may cost.
  /// @param agreement_s, call_s  the same on all ranks; 0: unknown
  void begin_window(double agreement_s, double call_s);
  /// This window alone is as short as any: something is to be agreed on soon.
  void shorten_window();

 private:
  void set_interval(double agreement_s, double call_s, double most_calls);
  void begin_count();

  DriftRule rule_;
  std::array<float, kMostTimed> times_s_{};
  std::uint64_t num_timed_ = 0;
  std::uint64_t num_calls_ = 0;
  std::uint64_t next_timed_ = 0;  ///< the number of the call
  std::uint64_t stride_ = 1;      ///< from one call that is timed to the next
  std::uint64_t interval_ = 0;
  double expected_s_ = 0.0;  ///< 0: the next window says
};

}  // namespace fairlead::intercept
