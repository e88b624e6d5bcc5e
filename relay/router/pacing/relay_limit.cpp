// SPDX-License-Identifier: Apache-2.0
#include "router/pacing/relay_limit.hpp"

#include <algorithm>

namespace fairlead::router {

// Sockets count the bytes that they give to the system's queues. The interface counts them later,
// when they leave the queues. So the difference falls while queues fill, and rises again as they
// empty. Only what exceeds its value before the queues filled is traffic of others.
double RelayLimit::Direction::others_bytes(double passed_bytes) {
  rest_bytes += passed_bytes;
  const double most_bytes = std::ranges::max(former_rest_bytes);
  former_rest_bytes.push_back(rest_bytes);
  if (former_rest_bytes.size() > kQueuedIntervals) former_rest_bytes.pop_front();
  return std::max(rest_bytes - most_bytes, 0.0);
}

void RelayLimit::Direction::update(double seconds, std::uint64_t all_bytes,
                                   std::uint64_t served_bytes) {
  const double all_Bps = static_cast<double>(all_bytes) / seconds;
  const double known_Bps = peak_Bps;
  peak_Bps = std::max(peak_Bps, all_Bps);
  const double others_Bps =
      others_bytes(static_cast<double>(all_bytes) - static_cast<double>(served_bytes)) / seconds;
  // Bytes that sockets count later than the interface, as after a loss, look like traffic of others
  // for one interval.
  const double idle_Bps = kIdleRatio * peak_Bps;
  are_others_idle = std::max(others_Bps, last_others_Bps) < idle_Bps;
  may_others_be_idle = std::min(others_Bps, last_others_Bps) < idle_Bps;
  last_others_Bps = others_Bps;
  is_busy =
      !may_others_be_idle && all_Bps > kBusyRatio * peak_Bps && all_Bps < kNewPeak * known_Bps;
}

void RelayLimit::update(const Passed& passed) {
  const double relayed_Bps = static_cast<double>(passed.relayed_bytes) / passed.seconds;
  in_.update(passed.seconds, passed.all.received, passed.served.received);
  out_.update(passed.seconds, passed.all.sent, passed.served.sent);
  const double peak_Bps = std::min(in_.peak_Bps, out_.peak_Bps);
  if (in_.are_others_idle && out_.are_others_idle) {
    rate_Bps_ = kUnlimited;
  } else if (in_.is_busy || out_.is_busy) {
    // If the limit was not used up, the interface could perhaps carry more.
    rate_Bps_ = std::max(kLeastRatio * peak_Bps, kDecrease * std::min(rate_Bps_, relayed_Bps));
  } else if (is_limited()) {
    rate_Bps_ += kIncreaseRatio * peak_Bps;
    if (rate_Bps_ > peak_Bps) rate_Bps_ = kUnlimited;
  }
}

}  // namespace fairlead::router
