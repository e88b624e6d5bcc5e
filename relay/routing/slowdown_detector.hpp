// SPDX-License-Identifier: Apache-2.0
// Detects that a program has become slower, by the intervals between its messages.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "routing/path_state.hpp"

namespace fairlead::relay {

/// Statistics of the intervals between messages of one class: to one rank, of about one size. Pure.
class SlowdownDetector {
 public:
  /// Ratio of each of two recent gaps to the longest before them. A single one may be a lost
  /// packet.
  static constexpr double kMuch = 2.0;
  /// Ratio of all of the last gaps to the usual one.
  static constexpr double kSome = 1.3;
  /// A single gap of this many times the longest before it shows a slowdown at once.
  static constexpr double kFar = 5.0;

  /// A message is about to be sent.
  /// @param since  a gap that begins before has a pause of the program in it, and is left out
  /// @return whether the program has just become slower
  bool add_message(Time now, Time since = Time::min());
  /// Whether the last gap alone is far longer than the earlier ones. It may be a pause of the
  /// program, or due to several lost packets, so the next gaps are still compared with the earlier
  /// ones.
  [[nodiscard]] bool is_far_slower() const { return is_far_slower_; }
  /// Between the last two messages; nothing before the second one, and where it was left out.
  [[nodiscard]] std::optional<double> last_gap_s() const { return last_gap_s_; }

 private:
  static constexpr std::size_t kGaps = 16;
  static constexpr std::size_t kLast = 4;
  static constexpr std::size_t kLeastBefore = 6;

  [[nodiscard]] bool is_slower() const;
  [[nodiscard]] bool is_far(double gap_s) const;

  /// Seconds, the latest at `num_gaps_ - 1`, modulo the size; all of them since it was slower last.
  std::array<double, kGaps> gaps_s_{};
  std::size_t num_gaps_ = 0;
  bool is_far_slower_ = false;
  std::optional<Time> last_{};
  std::optional<double> last_gap_s_{};
};

}  // namespace fairlead::relay
