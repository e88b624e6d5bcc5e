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

}  // namespace

WatchedTimes::WatchedTimes(double predicted_s, const DriftRule& rule) : rule_(rule) {
  if (!(predicted_s > 0) || !rule.is_on()) return;
  restart(predicted_s);
  interval_ = interval_of(kFirstAgreement_s, predicted_s, kMostFirstCalls);
}

std::uint64_t WatchedTimes::interval_of(double agreement_s, double call_s,
                                        double most_calls) const {
  const double calls = std::ceil(agreement_s / (rule_.max_cost_ratio / 2 * call_s));
  return static_cast<std::uint64_t>(std::clamp(calls, kFewestCalls, most_calls));
}

double WatchedTimes::median_s() const {
  std::array<float, 64> sorted = times_s_;
  const auto count = std::min<std::size_t>(sorted.size(), num_calls_);
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
  num_calls_ = 0;
}

void WatchedTimes::begin_window(double agreement_s, double call_s) {
  num_calls_ = 0;
  if (!(agreement_s > 0) || !(call_s > 0)) return;
  interval_ = interval_of(agreement_s, call_s, kMostCalls);
}

}  // namespace fairlead::intercept
