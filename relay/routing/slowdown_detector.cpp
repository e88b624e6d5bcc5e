// SPDX-License-Identifier: Apache-2.0
#include "routing/slowdown_detector.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace fairlead::relay {

bool SlowdownDetector::add_message(Time now, Time since) {
  const std::optional<Time> before = std::exchange(last_, now);
  last_gap_s_.reset();
  is_far_slower_ = false;
  if (!before || *before < since) return false;
  const double gap_s = std::chrono::duration<double>(now - *before).count();
  last_gap_s_ = gap_s;
  is_far_slower_ = is_far(gap_s);
  gaps_s_[num_gaps_ % kGaps] = gap_s;
  ++num_gaps_;
  if (!is_slower()) return false;
  // The usual interval has to be measured anew.
  num_gaps_ = 0;
  return true;
}

bool SlowdownDetector::is_far(double gap_s) const {
  if (num_gaps_ < kLeastBefore) return false;
  const std::size_t count = std::min(num_gaps_, kGaps);
  return gap_s > kFar * *std::ranges::max_element(std::span(gaps_s_).first(count));
}

bool SlowdownDetector::is_slower() const {
  constexpr std::size_t kLeast = kLast + kLeastBefore;
  if (num_gaps_ < kLeast) return false;
  std::array<double, kGaps> newest_first{};
  const std::size_t count = std::min(num_gaps_, kGaps);
  for (std::size_t age = 0; age < count; ++age) {
    newest_first[age] = gaps_s_[(num_gaps_ - 1 - age) % kGaps];
  }
  const std::span last = std::span(newest_first).first(kLast);
  const std::span before = std::span(newest_first).subspan(kLast, count - kLast);
  std::ranges::sort(before);
  const auto is_much = [&](double gap_s) { return gap_s > kMuch * before.back(); };
  if (std::ranges::count_if(last, is_much) >= 2) return true;
  return std::ranges::min(last) > kSome * before[before.size() / 2];
}

}  // namespace fairlead::relay
