// SPDX-License-Identifier: Apache-2.0
// The method two_level: blocks cross between islands once, and all hosts of an island let them in.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "collectives/methods/methods.hpp"

namespace fairlead::collectives {
namespace {

/// How many messages of a host are under way: to other islands, and inside its own (0: all of
/// them).
struct Limits {
  std::int32_t window;
  std::int32_t max_sends;
};

/// Limits for long blocks. What crosses one after the other arrives early, so the next host passes
/// it on meanwhile; it needs a part of the NIC, which it shares with what stays inside.
constexpr std::array kInTurn{Limits{1, 8}, Limits{2, 6}, Limits{1, 4}};
/// Short ones would wait for the latency of each.
constexpr Limits kAtOnce{64, 0};

/// Those worth trying.
std::vector<Limits> limits_for(const Problem& problem) {
  if (problem.links.num_hosts() < kManyHosts) {
    std::vector<Limits> limits(kInTurn.begin(), kInTurn.end());
    limits.push_back(kAtOnce);
    return limits;
  }
  const double block_bytes = unrooted_block_bytes(problem);
  const double latency_s = problem.links.latency_s(0, 1);
  const bool is_short = problem.links.transfer_s(0, 1, block_bytes) < 2.0 * latency_s;
  return {is_short ? kAtOnce : kInTurn.front()};
}

}  // namespace

Schedule plan_two_level(const Problem& problem) {
  const auto islands = problem.island_of_host;
  const auto num_islands =
      static_cast<std::size_t>(*std::max_element(islands.begin(), islands.end())) + 1;
  if (num_islands == 1 || num_islands == islands.size()) {
    // Each block goes straight to all, which `linear` predicts.
    Schedule schedule = linear_as_given(problem);
    schedule.predicted_s = std::numeric_limits<double>::infinity();
    return schedule;
  }
  Schedule schedule = begun(problem, Form::two_level);
  std::vector<Group> groups(num_islands);
  for (std::size_t host = 0; host < islands.size(); ++host) {
    groups[static_cast<std::size_t>(islands[host])].push_back(static_cast<std::int32_t>(host));
  }
  schedule.levels = {std::move(groups)};
  Schedule best;
  for (const auto& [window, max_sends] : limits_for(problem)) {
    schedule.window = window;
    schedule.max_sends = max_sends;
    keep_faster(problem, schedule, best);
  }
  return best;
}

}  // namespace fairlead::collectives
