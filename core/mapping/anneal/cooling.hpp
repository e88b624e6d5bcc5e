// SPDX-License-Identifier: Apache-2.0
// How one walk of annealing cools.
#pragma once

#include <cstdint>
#include <limits>

namespace fairlead::optimizing {

/// From `hot` to `cold` in equal ratios, over `num_steps` proposals; the last of them accept only
/// improvements. A walk that is late cools faster, since it would lose its result if it were cut
/// off while hot. `end_s` is on the clock of the run.
struct Cooling {
  double hot;
  double cold;
  std::int64_t num_steps;
  double end_s = std::numeric_limits<double>::infinity();
};

}  // namespace fairlead::optimizing
