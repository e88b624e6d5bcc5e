// SPDX-License-Identifier: Apache-2.0
#include "relay/messenger/mcm_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead::intercept::relay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;

double transfer_s(const Route& route, std::uint64_t bytes) {
  return route.latency_s + static_cast<double>(bytes) / route.bandwidth_Bps;
}

// Without the own bytes in flight: a full window says that the path is used, not that it is slow.
double segment_s(const PathState& path, std::uint64_t bytes) {
  return path.latency_s + static_cast<double>(bytes) / path.rate_Bps;
}

Clock::duration as_duration(double seconds) {
  return duration_cast<Clock::duration>(duration<double>(seconds));
}

}  // namespace

McmRule::McmRule(std::vector<Route> routes, const Zones& zones, std::uint32_t seed)
    : routes_(std::move(routes)),
      zones_(zones),
      random_(seed),
      is_open_(routes_.size(), false),
      last_chosen_(routes_.size()) {
  if (!is_open_.empty()) is_open_.front() = true;
}

std::size_t McmRule::num_open() const {
  return static_cast<std::size_t>(std::count(is_open_.begin(), is_open_.end(), true));
}

// Of the best path: so a pair that is slow at any time is beyond a threshold from its first
// message, and one that has become so, too.
double McmRule::unloaded_s(std::uint64_t bytes) const {
  double least_s = std::numeric_limits<double>::infinity();
  for (const Route& route : routes_) least_s = std::min(least_s, transfer_s(route, bytes));
  return least_s;
}

Zone McmRule::zone_of(double ratio) const {
  if (ratio >= zones_.high_ratio) return Zone::high;
  return ratio >= zones_.medium_ratio ? Zone::medium : Zone::low;
}

Way McmRule::next(std::uint64_t /*bytes*/, Time now) {
  close_idle(now);
  if (num_open() > 1) return Way::striped;
  const bool is_rising =
      num_ratios_ > 0 && zone_of(ratios_[(num_ratios_ - 1) % ratios_.size()]) > zone_;
  if (!is_rising && now < next_sample_) return Way::mpi;
  next_sample_ = now + kSampleInterval;
  return Way::striped;
}

bool McmRule::is_striping_worth(std::uint64_t bytes) const {
  if (routes_.empty()) return false;
  const double direct_s = transfer_s(routes_.front(), bytes);
  return num_open() > 1 || direct_s > zones_.medium_ratio * unloaded_s(bytes);
}

std::optional<std::size_t> McmRule::choose(std::span<PathState> paths, Way way, std::uint64_t bytes,
                                           Time now) {
  close_idle(now);
  if (way == Way::direct && !paths.empty() && paths.front().is_open(now)) return 0;
  double least_s = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < paths.size(); ++index) {
    if (!is_open_[index] || !paths[index].is_open(now)) continue;
    paths[index].forget_if_stale(now);
    least_s = std::min(least_s, segment_s(paths[index], bytes));
  }
  if (std::isinf(least_s)) return any_that_answers(paths, now);
  // A path that is slower by the whole way from low to high gets nothing, and so closes.
  std::vector<double> weights(paths.size(), 0.0);
  std::optional<std::size_t> without_room;
  bool has_room = false;
  for (std::size_t index = 0; index < paths.size(); ++index) {
    if (!is_open_[index] || !paths[index].is_open(now)) continue;
    const double expected_s = segment_s(paths[index], bytes);
    if (expected_s > zones_.high_ratio * least_s) continue;
    if (!paths[index].has_room(bytes)) {
      without_room = index;
      continue;
    }
    weights[index] = 1.0 / expected_s;
    has_room = true;
  }
  if (!has_room) return without_room;
  std::discrete_distribution<std::size_t> draw(weights.begin(), weights.end());
  const std::size_t chosen = draw(random_);
  last_chosen_[chosen] = now;
  return chosen;
}

// A path that does not answer is beyond every threshold.
std::optional<std::size_t> McmRule::any_that_answers(std::span<PathState> paths, Time now) {
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < paths.size(); ++index) {
    if (!paths[index].is_open(now)) continue;
    if (best && routes_[*best].bandwidth_Bps >= routes_[index].bandwidth_Bps) continue;
    best = index;
  }
  if (best) open(*best, now);
  return best;
}

void McmRule::learn(Way /*way*/, std::uint64_t bytes, double seconds, Time now) {
  if (routes_.size() < 2 || now - as_duration(seconds) < last_opening_) return;
  ratios_[num_ratios_++ % ratios_.size()] = seconds / unloaded_s(bytes);
  const std::size_t count = std::min(num_ratios_, ratios_.size());
  // A message that takes longer than the hold time is beyond a threshold for as long.
  if (count < ratios_.size() && as_duration(seconds) < kHoldTime) return;
  auto known = ratios_;
  std::sort(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(count));
  const double ratio = known[count / 2];
  const Zone zone = zone_of(ratio);
  if (zone <= zone_) {
    zone_ = zone;
    return;
  }
  if (now < next_transition_) return;
  zone_ = zone;
  next_transition_ = now + kHoldTime;
  open_best(bytes, ratio * unloaded_s(bytes), now);
}

void McmRule::open_best(std::uint64_t bytes, double seconds, Time now) {
  std::optional<std::size_t> best;
  for (std::size_t path = 0; path < routes_.size(); ++path) {
    if (is_open_[path]) continue;
    if (best && transfer_s(routes_[*best], bytes) <= transfer_s(routes_[path], bytes)) continue;
    best = path;
  }
  if (best && kMargin * transfer_s(routes_[*best], bytes) < seconds) open(*best, now);
}

void McmRule::open(std::size_t path, Time now) {
  last_chosen_[path] = now;
  if (is_open_[path]) return;
  is_open_[path] = true;
  last_opening_ = now;
  ++num_openings_;
  forget_messages();
}

void McmRule::close_idle(Time now) {
  const std::size_t former = num_open();
  for (std::size_t path = 1; path < routes_.size(); ++path) {
    if (is_open_[path] && now - last_chosen_[path] > kCloseTime) is_open_[path] = false;
  }
  if (former == 1 || num_open() > 1) return;
  // The direct path alone, as at the start.
  zone_ = Zone::low;
  forget_messages();
}

void McmRule::resume(Time now) {
  for (Time& chosen : last_chosen_) chosen = now;
  last_opening_ = now;
  forget_messages();
  next_sample_ = now;
}

std::unique_ptr<PathRule> McmRule::clone() const {
  return std::make_unique<McmRule>(*this);
}

}  // namespace fairlead::intercept::relay
