// SPDX-License-Identifier: Apache-2.0
#include "collectives/watched_times.hpp"

#include <algorithm>
#include <cmath>

namespace fairlead::intercept {
namespace {

constexpr double kFewestCalls = 16;
constexpr double kMostCalls = 1e6;
/// Until an agreement has been timed it counts as so long: what eight bytes take between hundreds
/// of ranks in a cloud.
constexpr double kFirstAgreement_s = 1e-3;
constexpr double kMostFirstCalls = 1000;
/// Two readings of the clock and what is kept of them: 0.06 us on a virtual machine
/// (bench/collectives/watching.py), rounded up.
constexpr double kTiming_s = 1e-7;

}  // namespace

WatchedTimes::WatchedTimes(double predicted_s, const DriftRule& rule) : rule_(rule) {
  if (!(predicted_s > 0) || !rule.is_on()) return;
  set_interval(kFirstAgreement_s, predicted_s, kMostFirstCalls);
  restart(predicted_s);
}

void WatchedTimes::set_interval(double agreement_s, double call_s, double most_calls) {
  const double window_s = agreement_s + kTiming_s * static_cast<double>(kMostTimed);
  const double calls = std::ceil(window_s / (rule_.max_cost_ratio / 2 * call_s));
  interval_ = static_cast<std::uint64_t>(std::clamp(calls, kFewestCalls, most_calls));
  stride_ = (interval_ + kMostTimed - 1) / kMostTimed;
}

/// The last call of each stride is timed: the first one comes after an agreement.
void WatchedTimes::begin_count() {
  num_calls_ = 0;
  num_timed_ = 0;
  next_timed_ = stride_ - 1;
}

double WatchedTimes::median_s() const {
  std::array<float, kMostTimed> sorted = times_s_;
  const auto count = std::min<std::size_t>(sorted.size(), num_timed_);
  if (count == 0) return 0.0;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<double>(*middle);
}

bool WatchedTimes::has_drifted(double agreed_s) {
  if (!(expected_s_ > 0)) expect(agreed_s);
  const double factor = 1 + rule_.max_ratio;
  return agreed_s > expected_s_ * factor || agreed_s * factor < expected_s_;
}

void WatchedTimes::expect(double agreed_s) {
  if (rule_.expected == Expected::measured) expected_s_ = agreed_s;
}

void WatchedTimes::restart(double predicted_s) {
  expected_s_ = rule_.expected == Expected::predicted ? predicted_s : 0.0;
  begin_count();
}

void WatchedTimes::begin_window(double agreement_s, double call_s) {
  if (agreement_s > 0 && call_s > 0) set_interval(agreement_s, call_s, kMostCalls);
  begin_count();
}

void WatchedTimes::shorten_window() {
  interval_ = static_cast<std::uint64_t>(kFewestCalls);
  stride_ = 1;
  begin_count();
}

}  // namespace fairlead::intercept
