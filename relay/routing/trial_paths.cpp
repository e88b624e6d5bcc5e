// SPDX-License-Identifier: Apache-2.0
#include "routing/trial_paths.hpp"

#include <limits>

#include "routing/trial_estimates.hpp"

namespace fairlead::relay {
namespace {

bool is_direct_part_of(TransferMode mode, const HostPath& path) {
  return path.is_direct() && (mode == TransferMode::parallel || path.connection == 0);
}

}  // namespace

std::optional<std::size_t> TrialPaths::choose(std::span<const PathState> paths, TransferMode mode,
                                              std::uint64_t bytes, Time now,
                                              bool may_take_all_connections) {
  if (mode == TransferMode::relayed) {
    if (const auto relay = best_relay(paths, now)) return relay;
  }
  const bool is_narrow =
      mode != TransferMode::striped && !paths.empty() && paths.front().is_open(now);
  const auto is_part = [&](const HostPath& path) {
    if (is_narrow) return is_direct_part_of(mode, path);
    return path.connection == 0 || may_take_all_connections;
  };
  double least_s = std::numeric_limits<double>::infinity();
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < paths.size(); ++index) {
    const PathState& path = paths[index];
    if (!path.is_open(now) || !is_part(path.planned)) continue;
    const double expected_s =
        path.optimistic_s(bytes, now) * (path.planned.is_direct() ? 1 : kRelayMargin);
    if (expected_s >= least_s) continue;
    least_s = expected_s;
    best = index;
  }
  return best;
}

// While bytes are in flight by one relay, the next segment takes the same relay, even if another
// one would now be faster. A relay that was idle gets one segment, which shows whether it has
// recovered.
std::optional<std::size_t> TrialPaths::best_relay(std::span<const PathState> paths, Time now) {
  constexpr std::uint64_t kLargeBytes = TrialEstimates::kLargeBytes;
  const bool is_taken = relay_ && paths[*relay_].in_flight_bytes > 0 && paths[*relay_].is_open(now);
  double least_s = std::numeric_limits<double>::infinity();
  std::optional<std::size_t> best;
  if (is_taken) {
    best = relay_;
    least_s = paths[*relay_].unqueued_s(kLargeBytes, now);
  }
  for (std::size_t index = 0; index < paths.size(); ++index) {
    const PathState& path = paths[index];
    if (!path.is_open(now) || path.planned.is_direct()) continue;
    if (is_taken && !path.is_stale(now)) continue;
    const double unqueued_s = path.unqueued_s(kLargeBytes, now);
    if (unqueued_s >= least_s) continue;
    least_s = unqueued_s;
    best = index;
  }
  if (!is_taken) relay_ = best;
  return best;
}

}  // namespace fairlead::relay
