// SPDX-License-Identifier: Apache-2.0
// Whether others fill what relays need, by what messages over the best relay alone take.
#pragma once

#include <algorithm>
#include <chrono>

#include "relay/messenger/path_state.hpp"

namespace fairlead::intercept::relay {

/// Pure: no clock. While there is load a message takes one path, not several.
class RelayLoad {
 public:
  /// It begins where the relay takes so many times what the plan expects, and ends where it takes
  /// less than the second one: what its own stripes add must not make it come and go.
  static constexpr double kBegins = 1.5;
  static constexpr double kEnds = 1.2;
  /// It lasts so long at least, unless it was found wrong in the same comparison.
  static constexpr std::chrono::milliseconds kLeastTime{1000};
  /// What is known of a load is true for so long, then twice as long each time it is found again,
  /// up to the second one.
  static constexpr std::chrono::milliseconds kInterval{8000};
  static constexpr std::chrono::milliseconds kLongestInterval{64000};

  /// Messages over the relay alone take so many times what the plan expects.
  void note(double times_of_plan, bool is_comparing, Time now) {
    if (is_loaded_) {
      const bool may_end = is_comparing || now - since_ >= kLeastTime;
      is_loaded_ = !may_end || times_of_plan > (is_comparing ? kBegins : kEnds);
    } else if (times_of_plan > kBegins) {
      is_loaded_ = true;
      since_ = now;
      known_until_ = now + interval_;
      interval_ = std::min(2 * interval_, kLongestInterval);
    }
    if (!is_loaded_) interval_ = kInterval;
  }

  void forget() { is_loaded_ = false; }
  [[nodiscard]] bool is_loaded() const { return is_loaded_; }
  [[nodiscard]] bool is_known(Time now) const { return is_loaded_ && now < known_until_; }

 private:
  bool is_loaded_ = false;
  Time since_{};
  Time known_until_{};
  std::chrono::milliseconds interval_ = kInterval;
};

}  // namespace fairlead::intercept::relay
