// SPDX-License-Identifier: Apache-2.0
#include "relay/messenger/trial_rule.hpp"

#include <limits>

namespace fairlead::intercept::relay {

Way TrialRule::next(std::uint64_t bytes, Time now) {
  return choice_.next(bytes, now);
}

bool TrialRule::is_striping_worth(std::uint64_t bytes) const {
  return choice_.is_striping_worth(bytes);
}

std::optional<std::size_t> TrialRule::choose(std::span<PathState> paths, Way way,
                                             std::uint64_t bytes, Time now,
                                             std::optional<std::size_t>& /*taken*/) {
  if (way == Way::relayed) {
    if (const auto relay = best_relay(paths, now)) return relay;
  }
  const bool is_narrow = way != Way::striped && !paths.empty() && paths.front().is_open(now);
  double least_s = std::numeric_limits<double>::infinity();
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < paths.size(); ++index) {
    const PathState& path = paths[index];
    if (!path.is_open(now)) continue;
    if (is_narrow ? !is_part_of(way, path.route) : !may_stripe(path.route)) continue;
    const double expected_s =
        path.hoped_s(bytes, now) * (path.route.is_direct() ? 1 : kRelayMargin);
    if (expected_s >= least_s) continue;
    least_s = expected_s;
    best = index;
  }
  return best;
}

// While something is on its way by one relay the next segment takes the same one, though another
// would be faster by now; one that was idle is given a segment, by which it is seen to have
// recovered.
std::optional<std::size_t> TrialRule::best_relay(std::span<const PathState> paths, Time now) {
  const bool is_taken = relay_ && paths[*relay_].in_flight_bytes > 0 && paths[*relay_].is_open(now);
  double least_s = std::numeric_limits<double>::infinity();
  std::optional<std::size_t> best;
  if (is_taken) {
    best = relay_;
    least_s = paths[*relay_].alone_s(WayChoice::kLargeBytes, now);
  }
  for (std::size_t index = 0; index < paths.size(); ++index) {
    const PathState& path = paths[index];
    if (!path.is_open(now) || path.route.is_direct()) continue;
    if (is_taken && !path.is_stale(now)) continue;
    const double alone_s = path.alone_s(WayChoice::kLargeBytes, now);
    if (alone_s >= least_s) continue;
    least_s = alone_s;
    best = index;
  }
  if (!is_taken) relay_ = best;
  return best;
}

bool TrialRule::is_part_of(Way way, const Route& route) {
  return route.is_direct() && (way == Way::parallel || route.connection == 0);
}

// Where further connections add nothing they would only wait for each other.
bool TrialRule::may_stripe(const Route& route) const {
  return route.connection == 0 || choice_.is_parallel_faster(WayChoice::kLargeBytes);
}

void TrialRule::learn(Way way, std::uint64_t bytes, double seconds, Time now) {
  choice_.learn(way, bytes, seconds, now);
}

void TrialRule::miss(Way way, std::uint64_t bytes, Time now) {
  choice_.miss(way, bytes, now);
}

void TrialRule::note_slowdown(Time now) {
  choice_.note_slowdown(now);
}

void TrialRule::resume(Time now) {
  choice_.postpone_trials(now);
}

std::unique_ptr<PathRule> TrialRule::clone() const {
  return std::make_unique<TrialRule>(*this);
}

}  // namespace fairlead::intercept::relay
