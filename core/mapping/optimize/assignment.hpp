// SPDX-License-Identifier: Apache-2.0
// One seat on each host, the quadratic assignment problem: how a start is heated there.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "mapping/optimize/random.hpp"

namespace fairlead::optimizing {

/// Root mean square of what swaps of any two change, after some of them were made; 0 where none
/// changes anything. Traffic and costs of such problems differ too much for their means to tell.
template <typename State>
[[nodiscard]] double spread_of_swaps(State state, Random random) {
  constexpr int kSamples = 512, kSamplesPerSwap = 4;
  const std::int32_t num_tasks = state.seating().num_tasks();
  double squares = 0.0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::int32_t task = random.below(num_tasks), other = random.below(num_tasks);
    if (task == other) continue;
    const double change = state.swap_change(task, other, std::numeric_limits<float>::infinity());
    squares += change * change;
    if (sample % kSamplesPerSwap == 0) state.swap(task, other);
  }
  return std::sqrt(squares / kSamples);
}

/// Temperatures in the spread of swaps.
struct Heat {
  double hot;
  double cold;
};

/// Every third start is heated as elsewhere, which is good for the few partners of a program's
/// tasks.
[[nodiscard]] inline bool has_heat_of_its_own(int start) {
  return start % 3 != 0;
}

/// Of the others, some cool through all temperatures at which anything is decided. Where traffic
/// and costs have no structure, that is within a factor of two, in which the rest spend their time.
/// Measured by bench/placement/qaplib.py.
[[nodiscard]] inline Heat heat_of_assignment(int start) {
  return start % 3 == 1 ? Heat{.hot = 0.7, .cold = 0.01} : Heat{.hot = 0.22, .cold = 0.1};
}

}  // namespace fairlead::optimizing
