// SPDX-License-Identifier: Apache-2.0
// Which algorithms of a call need no further rounds. Pure: no MPI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fairlead::tune {

/// Ends the timing of those that were slower than another one in each of the rounds so far, and of
/// two that were equal in all that of the later one. The first, the MPI's own, stays: others are
/// compared with it.
/// @param rounds_s  of each round the seconds of each algorithm
inline void drop_slower(const std::vector<std::vector<double>>& rounds_s,
                        std::vector<bool>& is_timed) {
  const std::vector<bool> was_timed = is_timed;
  const auto is_slower = [&rounds_s](std::size_t algorithm, std::size_t other) {
    return std::all_of(rounds_s.begin(), rounds_s.end(), [=](const std::vector<double>& row) {
      return row[algorithm] > row[other] || (row[algorithm] == row[other] && algorithm > other);
    });
  };
  for (std::size_t algorithm = 1; algorithm < is_timed.size(); ++algorithm) {
    for (std::size_t other = 0; other < is_timed.size(); ++other) {
      if (was_timed[algorithm] && was_timed[other] && is_slower(algorithm, other))
        is_timed[algorithm] = false;
    }
  }
}

}  // namespace fairlead::tune
