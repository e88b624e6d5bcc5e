// SPDX-License-Identifier: Apache-2.0
// How one walk of annealing cools.
#pragma once

#include <cstdint>
#include <limits>

namespace fairlead::optimizing {

/// From `hot` to `cold` in equal ratios, over `num_steps` proposals, of which the last only take
/// what gains. Who is behind the time cools faster: to be cut off while hot would lose everything.
/// `end_s` is on the clock of the run.
struct Schedule {
  double hot;
  double cold;
  std::int64_t num_steps;
  double end_s = std::numeric_limits<double>::infinity();
};

}  // namespace fairlead::optimizing
