// SPDX-License-Identifier: Apache-2.0
#include "relay/messenger/way_choice.hpp"

#include <algorithm>

namespace fairlead::intercept::relay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// A trial is followed by so many times what it is expected to take.
constexpr double kRestRatio = 20.0;

milliseconds rest_after(double trial_s) {
  return duration_cast<milliseconds>(duration<double>(kRestRatio * trial_s));
}

}  // namespace

void WayRate::learn(std::uint64_t bytes, double seconds) {
  // A small message is mostly latency, which says nothing of the rate.
  const double busy_s = std::max({seconds - latency_s_, 0.25 * seconds, 1e-6});
  last_Bps_[num_learned_ % last_Bps_.size()] = static_cast<double>(bytes) / busy_s;
  ++num_learned_;
}

double WayRate::expected_s(std::uint64_t bytes) const {
  return latency_s_ + static_cast<double>(bytes) / rate_Bps();
}

double WayRate::rate_Bps() const {
  if (num_learned_ == 0) return planned_Bps_;
  auto known = last_Bps_;
  const std::size_t count = std::min(num_learned_, known.size());
  std::sort(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(count));
  return known[count / 2];
}

WayChoice::WayChoice(WayRate direct, WayRate striped, Time now)
    : direct_(direct), striped_(striped), next_direct_(now), next_striped_(now) {}

Way WayChoice::next(std::uint64_t bytes, Time now) {
  if (now >= next_direct_) {
    next_direct_ = now + std::max(kTrialInterval, rest_after(direct_.expected_s(bytes)));
    return Way::direct;
  }
  if (is_striping_worth(bytes)) {
    striped_interval_ = 4 * kTrialInterval;
    next_striped_ = now + striped_interval_;
    return Way::striped;
  }
  if (now < next_striped_) return Way::mpi;
  next_striped_ = now + std::max(striped_interval_, rest_after(striped_.expected_s(bytes)));
  striped_interval_ = std::min(2 * striped_interval_, kLongestTrialInterval);
  return Way::striped;
}

void WayChoice::learn(Way way, std::uint64_t bytes, double seconds) {
  if (way == Way::direct) direct_.learn(bytes, seconds);
  if (way == Way::striped) striped_.learn(bytes, seconds);
}

void WayChoice::postpone_trials(Time now) {
  next_direct_ = std::max(next_direct_, now + kTrialInterval);
  next_striped_ = std::max(next_striped_, now + striped_interval_);
}

bool WayChoice::is_striping_worth(std::uint64_t bytes) const {
  return kMargin * striped_.expected_s(bytes) < direct_.expected_s(bytes);
}

}  // namespace fairlead::intercept::relay
