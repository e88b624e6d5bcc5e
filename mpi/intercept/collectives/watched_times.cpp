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

double interval_of(double agreement_s, double call_s, double most_calls) {
  const double calls = std::ceil(agreement_s / (WatchedTimes::kMaxCostRatio * call_s));
  return std::clamp(calls, kFewestCalls, most_calls);
}

}  // namespace

WatchedTimes::WatchedTimes(double predicted_s, bool is_known)
    : expected_s_(is_known ? predicted_s : 0.0) {
  if (!(predicted_s > 0)) return;
  interval_ =
      static_cast<std::uint64_t>(interval_of(kFirstAgreement_s, predicted_s, kMostFirstCalls));
}

double WatchedTimes::median_s() const {
  std::array<float, 64> sorted = times_s_;
  const auto count = std::min<std::size_t>(sorted.size(), num_calls_);
  if (count == 0) return 0.0;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<double>(*middle);
}

bool WatchedTimes::has_drifted(double agreed_s, double max_drift_ratio) {
  const double factor = 1 + max_drift_ratio;
  const double most = is_measured_ ? factor : std::max(kMaxFirstFactor, factor);
  const bool is_far =
      expected_s_ > 0 && (agreed_s > expected_s_ * most || agreed_s * most < expected_s_);
  if (!is_far && !is_measured_) expect(agreed_s);
  return is_far;
}

void WatchedTimes::begin_window(double agreement_s, double call_s) {
  num_calls_ = 0;
  if (!(agreement_s > 0) || !(call_s > 0)) return;
  interval_ = static_cast<std::uint64_t>(interval_of(agreement_s, call_s, kMostCalls));
}

}  // namespace fairlead::intercept
