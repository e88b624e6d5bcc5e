// SPDX-License-Identifier: Apache-2.0
// Whether others fill what relays need, by what messages over the best relay alone take.
#pragma once

#include <algorithm>
#include <chrono>

#include "routing/path_state.hpp"

namespace fairlead::relay {

/// Pure: no clock. While there is load a message takes one path, not several.
class RelayLoad {
 public:
  /// It begins where the relay takes so many times what the plan expects, and ends where it takes
  /// less than the second one: what its own stripes add must not make it come and go.
  static constexpr double kBegins = 1.5;
  static constexpr double kEnds = 1.2;
  /// What is known of a load is true for so long, then, if it has come back soon, for twice as
  /// long, up to the second one. It does not end in the first eighth of this time.
  static constexpr std::chrono::milliseconds kInterval{8000};
  static constexpr std::chrono::milliseconds kLongestInterval{64000};

  /// Messages over the relay alone take so many times what the plan expects. In a comparison
  /// these follow each other soon, so one that was disturbed is corrected at once.
  void update(double times_of_plan, bool is_comparing, Time now) {
    if (is_loaded_) {
      const bool may_end = is_comparing || now - since_ >= interval_ / 8;
      if (may_end && times_of_plan <= (is_comparing ? kBegins : kEnds)) forget(now);
    } else if (times_of_plan > kBegins) {
      begin(now);
    }
  }

  void forget(Time now) {
    if (is_loaded_) ended_ = now;
    is_loaded_ = false;
  }
  [[nodiscard]] bool is_loaded() const { return is_loaded_; }
  /// @param least  so long at least
  [[nodiscard]] bool is_known(Time now, Clock::duration least = {}) const {
    return is_loaded_ && now - since_ < std::max<Clock::duration>(interval_, least);
  }

 private:
  void begin(Time now) {
    const bool is_soon = now - ended_ < interval_;
    interval_ = is_soon ? std::min(2 * interval_, kLongestInterval) : kInterval;
    is_loaded_ = true;
    since_ = now;
  }

  bool is_loaded_ = false;
  Time since_{};
  /// The last one.
  Time ended_{};
  std::chrono::milliseconds interval_ = kInterval;
};

}  // namespace fairlead::relay
