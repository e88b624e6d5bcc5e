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
// A way that is so many times as fast is taken without further trials of the direct path: opening a
// connection costs less.
constexpr double kFarFaster = 2.0;

milliseconds rest_after(double trial_s) {
  return duration_cast<milliseconds>(duration<double>(kRestRatio * trial_s));
}

}  // namespace

WayRate WayRate::with_doubt() const {
  WayRate same = *this;
  same.is_doubted_ = true;
  return same;
}

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
  if (is_doubted_ && count < known.size()) return std::max(planned_Bps_, known[count - 1]);
  return known[count / 2];
}

void Trials::begin(Time now, double expected_s) {
  // There are two such ways, and trials of the direct path.
  next_ = now + std::max(interval_, 2 * rest_after(expected_s));
  interval_ = std::min(2 * interval_, WayChoice::kLongestTrialInterval);
}

void Trials::restart(Time now) {
  interval_ = kFirst;
  next_ = now + interval_;
}

WayChoice::WayChoice(WayRate direct, WayRate striped, Time now,
                     const std::optional<WayRate>& parallel)
    : direct_(direct.with_doubt()),
      striped_(striped),
      parallel_(parallel),
      next_direct_(now),
      striped_trials_(now),
      parallel_trials_(now) {}

Way WayChoice::next(std::uint64_t bytes, Time now) {
  if (now >= next_direct_) {
    next_direct_ = now + std::max(kTrialInterval, rest_after(direct_.expected_s(bytes)));
    return Way::direct;
  }
  const Way taken = best(bytes);
  if (taken == Way::striped) striped_trials_.restart(now);
  if (taken == Way::parallel) parallel_trials_.restart(now);
  if (striped_trials_.is_due(now)) {
    striped_trials_.begin(now, striped_.expected_s(bytes));
    return Way::striped;
  }
  if (parallel_ && parallel_trials_.is_due(now)) {
    parallel_trials_.begin(now, parallel_->expected_s(bytes));
    return Way::parallel;
  }
  if (taken != Way::mpi && num_early_trials_ > 0 && !is_far_faster(taken, bytes)) {
    --num_early_trials_;
    return Way::direct;
  }
  return taken;
}

bool WayChoice::is_far_faster(Way way, std::uint64_t bytes) const {
  const WayRate& other = way == Way::parallel && parallel_ ? *parallel_ : striped_;
  return kFarFaster * other.expected_s(bytes) < direct_.expected_s(bytes);
}

// Relays have to be better than several connections by the margin: they load third hosts.
Way WayChoice::best(std::uint64_t bytes) const {
  const double direct_s = direct_.expected_s(bytes);
  const double striped_s = kMargin * striped_.expected_s(bytes);
  if (parallel_) {
    const double parallel_s = parallel_->expected_s(bytes);
    if (kMargin * parallel_s < direct_s)
      return striped_s < parallel_s ? Way::striped : Way::parallel;
  }
  return striped_s < direct_s ? Way::striped : Way::mpi;
}

bool WayChoice::is_parallel_faster() const {
  constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20U;
  return parallel_ &&
         kMargin * parallel_->expected_s(kLargeBytes) < direct_.expected_s(kLargeBytes);
}

void WayChoice::learn(Way way, std::uint64_t bytes, double seconds) {
  if (way == Way::direct) direct_.learn(bytes, seconds);
  if (way == Way::parallel && parallel_) parallel_->learn(bytes, seconds);
  if (way == Way::striped) striped_.learn(bytes, seconds);
}

void WayChoice::postpone_trials(Time now) {
  next_direct_ = std::max(next_direct_, now + kTrialInterval);
  striped_trials_.postpone(now);
  parallel_trials_.postpone(now);
}

}  // namespace fairlead::intercept::relay
