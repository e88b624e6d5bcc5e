// SPDX-License-Identifier: Apache-2.0
// One order: a call, and the algorithms by which it is to be timed.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/collectives/schedule.hpp"
#include "native_settings.hpp"
#include "trial.hpp"

namespace fairlead::tune {

/// The MPI's own with settings of the library, on a communicator in another order.
struct NativeAlgorithm {
  std::vector<NativeSetting> settings;
  /// Old rank at each new one; empty for the same order.
  std::vector<int> order;
};

/// The first algorithm is always the MPI's own; then those of `natives`, then the schedules.
struct Order {
  Call call;
  /// World ranks of the communicator, in its order.
  std::vector<int> ranks;
  /// For each rank of the communicator, 0 .. number of hosts - 1.
  std::vector<int> host_of_rank;
  std::vector<NativeAlgorithm> natives;
  std::vector<collectives::Schedule> schedules;
  /// Complete rounds that are done in any case, and the most.
  int min_rounds = 9;
  int max_rounds = 30;
  /// No further round begins after this time, beyond `min_rounds`.
  double time_s = 1;
  /// No further round begins after this time, though there were fewer: slow calls must not take as
  /// long as they like.
  double limit_s = std::numeric_limits<double>::infinity();
  /// Whether an algorithm that was slower than the MPI's own, or than another algorithm, in each of
  /// the first rounds is not timed any more.
  bool drops_slower = true;
  /// A trial repeats its call until it takes about this long.
  double trial_s = 1e-3;
};

/// @param text one JSON object whose fields are those of `Order`; those with a default may be
/// absent
/// @throws InputError naming the field, its value and what is allowed
[[nodiscard]] Order parse_order(std::string_view text);

}  // namespace fairlead::tune
