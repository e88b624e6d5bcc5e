// SPDX-License-Identifier: Apache-2.0
#include "relay_limit.hpp"

#include <algorithm>

namespace fairlead::router {

void RelayLimit::Direction::note(double all_Bps, double relayed_Bps) {
  const double known_Bps = peak_Bps;
  peak_Bps = std::max(peak_Bps, all_Bps);
  // What a router reads later than it came looks like the host's own for one interval.
  const double own_Bps = all_Bps - relayed_Bps;
  is_own_idle = std::min(own_Bps, last_own_Bps) < kIdleRatio * peak_Bps;
  last_own_Bps = own_Bps;
  is_busy = !is_own_idle && all_Bps > kBusyRatio * peak_Bps && all_Bps < kNewPeak * known_Bps;
}

void RelayLimit::note(const Passed& passed) {
  const auto rate_Bps = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / passed.seconds;
  };
  const double relayed_Bps = rate_Bps(passed.relayed.sent);
  in_.note(rate_Bps(passed.all.received), rate_Bps(passed.relayed.received));
  out_.note(rate_Bps(passed.all.sent), relayed_Bps);
  const double peak_Bps = std::min(in_.peak_Bps, out_.peak_Bps);
  if (in_.is_own_idle && out_.is_own_idle) {
    rate_Bps_ = kUnlimited;
  } else if (in_.is_busy || out_.is_busy) {
    // A limit that was not used up says nothing of what there is room for.
    rate_Bps_ = std::max(kLeastRatio * peak_Bps, kDecrease * std::min(rate_Bps_, relayed_Bps));
  } else if (is_limited()) {
    rate_Bps_ += kIncreaseRatio * peak_Bps;
    if (rate_Bps_ > peak_Bps) rate_Bps_ = kUnlimited;
  }
}

}  // namespace fairlead::router
