// SPDX-License-Identifier: Apache-2.0
// Statistics of the intervals between messages.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace fairlead::relay {

/// The last two intervals between a message in one mode and the next message.
class SendIntervals {
 public:
  /// Ratio at which intervals count as far shorter than others.
  static constexpr double kFarFaster = 2.0;

  void add(double interval_s) { intervals_s_[num_intervals_++ % intervals_s_.size()] = interval_s; }
  void forget() { num_intervals_ = 0; }
  [[nodiscard]] bool is_known() const { return num_intervals_ >= intervals_s_.size(); }
  [[nodiscard]] bool is_slower_than(double interval_s) const {
    return is_known() && std::ranges::min(intervals_s_) > interval_s;
  }
  [[nodiscard]] bool is_far_faster_than(const SendIntervals& other) const {
    return is_known() && other.is_known() &&
           kFarFaster * std::ranges::max(intervals_s_) < std::ranges::min(other.intervals_s_);
  }

 private:
  std::array<double, 2> intervals_s_{};
  std::size_t num_intervals_ = 0;
};

}  // namespace fairlead::relay
