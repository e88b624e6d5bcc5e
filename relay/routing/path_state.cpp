// SPDX-License-Identifier: Apache-2.0
#include "routing/path_state.hpp"

#include <algorithm>

#include "wire/frame.hpp"

namespace fairlead::relay {
namespace {

constexpr std::uint64_t kLeastWindowBytes = std::uint64_t{512} << 10U;
constexpr std::chrono::milliseconds kLongestClosing{8000};
// Assumed rate of a connection with the receiver before it was used.
constexpr double kUnknownRate_Bps = 1e8;
// New samples have this weight.
constexpr double kSampleWeight = 0.25;
constexpr double kRecoveredRatio = 2.0;

// Twice what the path holds, so that it is always busy.
std::uint64_t window_bytes(const PathState& path) {
  const double held = 2.0 * path.rate_Bps * path.planned.latency_s;
  return std::max(kLeastWindowBytes, static_cast<std::uint64_t>(held));
}

}  // namespace

PathState PathState::by(const HostPath& path, Time now) {
  return {.planned = path,
          .rate_Bps = path.bandwidth_Bps,
          .latency_s = path.latency_s,
          .last_used = now};
}

PathState PathState::without_routers(Time now) {
  return {.rate_Bps = kUnknownRate_Bps, .last_used = now};
}

double PathState::expected_s(std::uint64_t bytes) const {
  return latency_s + static_cast<double>(in_flight_bytes + bytes) / rate_Bps;
}

bool PathState::has_space(std::uint64_t bytes) const {
  return in_flight_bytes == 0 || in_flight_bytes + bytes <= window_bytes(*this);
}

double PathState::optimistic_s(std::uint64_t bytes, Time now) const {
  return is_stale(now) ? unqueued_s(bytes, now) : expected_s(bytes);
}

double PathState::unqueued_s(std::uint64_t bytes, Time now) const {
  const double known_s = latency_s + static_cast<double>(bytes) / rate_Bps;
  if (!is_stale(now)) return known_s;
  return std::min(known_s, planned.latency_s + static_cast<double>(bytes) / planned.bandwidth_Bps);
}

bool PathState::is_stale(Time now) const {
  return in_flight_bytes == 0 && now - last_used > kForgetTime;
}

void PathState::learn(std::uint64_t bytes, std::uint64_t bytes_ahead, double took_s,
                      double held_s) {
  // Part of the time is that of the bytes, also where the plan expects a longer latency.
  const double sample_s = std::min(planned.latency_s + held_s, 0.75 * took_s);
  latency_s += kSampleWeight * (sample_s - latency_s);
  const double busy_s = std::max(took_s - sample_s, 1e-6);
  const double least_Bps = static_cast<double>(bytes_ahead) / busy_s;
  // The time of less than a whole segment is mostly the time in which processes wake up. On a busy
  // machine that would give a rate of some bytes per second, and the timeout of a larger message
  // would be hours.
  const bool is_whole = bytes_ahead >= kMaxSegmentBytes;
  const double most_Bps = is_whole ? least_Bps : kMaxSegmentBytes / busy_s;
  // A single segment shows the latency rather than the rate. But if it is much faster than the
  // known rate, the path has recovered.
  const bool has_recovered = least_Bps > kRecoveredRatio * rate_Bps;
  if (most_Bps < rate_Bps) {
    rate_Bps += kSampleWeight * (most_Bps - rate_Bps);
  } else if (has_recovered || (is_whole && bytes_ahead > bytes)) {
    rate_Bps += kSampleWeight * (least_Bps - rate_Bps);
  }
  has_learned = true;
  next_closing = kFirstClosing;
}

void PathState::learn_late(std::uint64_t bytes_ahead, double seconds) {
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(bytes_ahead, kMaxSegmentBytes));
  const double most_Bps = bytes / std::max(seconds, 1e-6);
  if (most_Bps >= rate_Bps) return;
  rate_Bps = most_Bps;
  has_learned = true;
}

void PathState::close(Time now) {
  closed_until = now + next_closing;
  next_closing = std::min(2 * next_closing, kLongestClosing);
}

}  // namespace fairlead::relay
