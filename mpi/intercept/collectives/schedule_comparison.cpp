// SPDX-License-Identifier: Apache-2.0
#include "collectives/schedule_comparison.hpp"

namespace fairlead::intercept {

bool ScheduleComparison::begin_call() {
  // New; old, new; new, old; old, new; ...
  const std::uint64_t in_four = num_calls_ % 4;
  is_new_ = num_calls_ == 0 || in_four == 2 || in_four == 3;
  ++num_calls_;
  return is_new_;
}

void ScheduleComparison::add(double call_s) {
  times_s_[is_new_ ? 1 : 0] = call_s;
}

Verdict ScheduleComparison::judge(double old_s, double new_s) {
  ++(new_s < old_s * (1 - kLeastRatio) ? num_wins_ : num_losses_);
  if (num_wins_ == kNumWins) return Verdict::is_replaced;
  return num_losses_ > kNumPairs - kNumWins ? Verdict::stays : Verdict::open;
}

}  // namespace fairlead::intercept
