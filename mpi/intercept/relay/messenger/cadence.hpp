// SPDX-License-Identifier: Apache-2.0
// Notices that a program has become slower, by the times between its messages.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "relay/messenger/path_state.hpp"

namespace fairlead::intercept::relay {

/// Of messages that are alike: to one rank, of about one size. Pure.
class Cadence {
 public:
  /// Two of the last gaps are each so many times the longest before them. One alone may be a lost
  /// packet.
  static constexpr double kMuch = 2.0;
  /// All of the last gaps are so many times the usual one.
  static constexpr double kSome = 1.3;

  /// A message is about to be sent. @return whether the program has just become slower
  bool note(Time now);
  /// Between the last two messages; nothing before the second one.
  [[nodiscard]] std::optional<double> last_gap_s() const { return last_gap_s_; }

 private:
  static constexpr std::size_t kGaps = 16;
  static constexpr std::size_t kLast = 4;

  [[nodiscard]] bool is_slower() const;

  /// Seconds, the latest at `num_gaps_ - 1`, modulo the size; all of them since it was slower last.
  std::array<double, kGaps> gaps_s_{};
  std::size_t num_gaps_ = 0;
  std::optional<Time> last_{};
  std::optional<double> last_gap_s_{};
};

}  // namespace fairlead::intercept::relay
