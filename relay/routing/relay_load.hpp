// SPDX-License-Identifier: Apache-2.0
// Detects load of others on the interfaces that relays need, by the times of messages over the best
// relay alone.
#pragma once

#include <algorithm>
#include <chrono>

#include "routing/path_state.hpp"

namespace fairlead::relay {

/// Pure: no clock. While there is load a message takes one path, not several.
class RelayLoad {
 public:
  /// Load begins where messages over the relay take this many times the planned time, and ends
  /// below the second factor. The two differ, so that the load of the job's own stripes does not
  /// switch it on and off.
  static constexpr double kBegins = 1.5;
  static constexpr double kEnds = 1.2;
  /// Detected load counts for this time; if it returns soon, for twice as long, up to the second
  /// limit. It does not end in the first eighth of this time.
  static constexpr std::chrono::milliseconds kInterval{8000};
  static constexpr std::chrono::milliseconds kLongestInterval{64000};

  /// Messages over the relay alone take this many times the planned time. In a comparison they
  /// follow each other soon, so a disturbed one is corrected at once.
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
  /// @param least  the load lasts at least this long
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
