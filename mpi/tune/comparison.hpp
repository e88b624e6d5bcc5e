// SPDX-License-Identifier: Apache-2.0
// Times all algorithms of one order in turns.
#pragma once

#include <mpi.h>

#include <vector>

#include "order.hpp"

namespace fairlead::tune {

struct ComparisonResult {
  /// Whether each algorithm is available and delivered what it has to; one that did not is not
  /// timed.
  std::vector<bool> is_right{};
  /// Seconds of one call, that of the slowest rank; for each complete round those of each
  /// algorithm, the MPI's own first. 0 where an algorithm was not timed: it delivered something
  /// else, or was slower than another algorithm in each of the first rounds.
  std::vector<std::vector<double>> rounds_s{};
  /// Calls of one trial.
  int num_calls = 1;
};

/// Collective over `comm`, which has the ranks of the order; the same result on all.
/// @throws InputError  communicators cannot be made
[[nodiscard]] ComparisonResult compare(const Order& order, MPI_Comm comm);

}  // namespace fairlead::tune
