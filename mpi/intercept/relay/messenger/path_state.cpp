// SPDX-License-Identifier: Apache-2.0
#include "relay/messenger/path_state.hpp"

#include <algorithm>

namespace fairlead::intercept::relay {
namespace {

constexpr std::uint64_t kLeastWindowBytes = std::uint64_t{512} << 10U;

// Twice what the path holds, so that it is always busy.
std::uint64_t window_bytes(const PathState& path) {
  const double held = 2.0 * path.rate_Bps * path.route.latency_s;
  return std::max(kLeastWindowBytes, static_cast<std::uint64_t>(held));
}

}  // namespace

double PathState::expected_s(std::uint64_t bytes) const {
  return latency_s + static_cast<double>(in_flight_bytes + bytes) / rate_Bps;
}

bool PathState::has_room(std::uint64_t bytes) const {
  return in_flight_bytes == 0 || in_flight_bytes + bytes <= window_bytes(*this);
}

double PathState::hoped_s(std::uint64_t bytes, Time now) const {
  return is_stale(now) ? alone_s(bytes, now) : expected_s(bytes);
}

double PathState::alone_s(std::uint64_t bytes, Time now) const {
  const double known_s = latency_s + static_cast<double>(bytes) / rate_Bps;
  if (!is_stale(now)) return known_s;
  return std::min(known_s, route.latency_s + static_cast<double>(bytes) / route.bandwidth_Bps);
}

bool PathState::is_stale(Time now) const {
  return in_flight_bytes == 0 && now - last_used > kForgetTime;
}

void PathState::forget_if_stale(Time now) {
  if (!is_stale(now)) return;
  rate_Bps = route.bandwidth_Bps;
  latency_s = route.latency_s;
}

}  // namespace fairlead::intercept::relay
