// SPDX-License-Identifier: Apache-2.0
// Measures the pairs of hosts of a communicator again, in the middle of a program.
#pragma once

#include "collectives/probed_pairs.hpp"
#include "members.hpp"

namespace fairlead::intercept {

/// No pair is begun that would not be done by then if it took as long as the slowest one before it,
/// so that the program stops for longer only where one pair takes longer than all before it.
inline constexpr double kLongestProbe_s = 0.5;

/// Ping-pong between one process of each host, in rounds in which each has one partner: one byte,
/// then growing messages until one takes long enough. The result is the same on all ranks.
/// Collective, after another collective in which all ranks met.
/// @param first_round  where to begin, so that what one probe leaves out comes first in the next
/// @throws MpiFailure
[[nodiscard]] ProbedPairs probe_pairs(fairlead::collectives::Members& members, int first_round);

}  // namespace fairlead::intercept
