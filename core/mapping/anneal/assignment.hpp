// SPDX-License-Identifier: Apache-2.0
// One slot on each host, the quadratic assignment problem: temperatures of the starts.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/random.hpp"

namespace fairlead::optimizing {

/// Root mean square of the changes of swaps of a task with an occupant elsewhere, some of which
/// are made; 0 if none changes anything. Traffic and costs of such problems vary too much for their
/// means to be useful.
template <typename State>
[[nodiscard]] double spread_of_swaps(State state, Random random) {
  constexpr int kProposals = 512, kProposalsPerSwap = 4;
  double squares = 0.0;
  int num_samples = 0;
  for (int proposal = 0; proposal < kProposals; ++proposal) {
    const std::int32_t task = random.below(state.occupancy().num_tasks());
    const std::int32_t there = random.below(state.occupancy().num_hosts());
    const auto occupants = state.occupancy().occupants(there);
    if (occupants.empty() || state.occupancy().host_of(task) == there) continue;
    const std::int32_t occupant = occupants.front();
    const double change = state.swap_change(task, occupant, std::numeric_limits<float>::infinity());
    squares += change * change;
    ++num_samples;
    if (proposal % kProposalsPerSwap == 0) state.swap(task, occupant);
  }
  return num_samples > 0 ? std::sqrt(squares / num_samples) : 0.0;
}

/// Temperatures in a unit: the spread of swaps here, `temperature_unit` elsewhere.
struct Heat {
  double hot;
  double cold;
};

/// Every third start has the same temperatures as in other problems, which suit the few partners of
/// a program's tasks. Of the others, some cool through all temperatures that matter. If traffic and
/// costs have no structure, these are within a factor of two, where the remaining starts spend
/// their time. Measured by bench/placement/qaplib.py.
[[nodiscard]] inline std::optional<Heat> heat_of_assignment(int start) {
  switch (start % 3) {
    case 1:
      return Heat{.hot = 0.7, .cold = 0.01};
    case 2:
      return Heat{.hot = 0.22, .cold = 0.1};
    default:
      return std::nullopt;
  }
}

}  // namespace fairlead::optimizing
