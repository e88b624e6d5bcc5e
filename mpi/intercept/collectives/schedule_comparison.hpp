// SPDX-License-Identifier: Apache-2.0
// Whether a new schedule is faster than the one in use, on the program's own calls. Pure: no MPI,
// no clock.
#pragma once

#include <array>
#include <cstdint>

namespace fairlead::intercept {

enum class Verdict : std::uint8_t { open, stays, is_replaced };

/// A call by the new schedule, which may set things up and is not timed; then pairs of a call by
/// each, of which either comes first in turns. Ranks agree on the times of each pair.
class ScheduleComparison {
 public:
  /// To be asked once for each call: whether it follows the new schedule.
  bool begin_call();
  /// What the call has taken on this rank.
  void add(double call_s);

  /// Whether a pair is complete.
  [[nodiscard]] bool is_due() const { return num_calls_ > 1 && num_calls_ % 2 == 1; }
  [[nodiscard]] double old_s() const { return times_s_[0]; }
  [[nodiscard]] double new_s() const { return times_s_[1]; }

  /// Takes the times of a pair, the same on all ranks.
  [[nodiscard]] Verdict judge(double old_s, double new_s);

  /// One of two equal schedules wins so many of so many pairs by chance in at most 9 of 256
  /// comparisons (sign test).
  static constexpr int kNumPairs = 8;
  static constexpr int kNumWins = 7;
  /// The least saving that counts, as in `fairlead tune`.
  static constexpr double kLeastRatio = 0.02;

 private:
  std::uint64_t num_calls_ = 0;
  bool is_new_ = true;
  std::array<double, 2> times_s_{};  ///< of the last call by the old and by the new schedule
  int num_wins_ = 0;
  int num_losses_ = 0;
};

}  // namespace fairlead::intercept
