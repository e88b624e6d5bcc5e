// SPDX-License-Identifier: Apache-2.0
// The way of one process through the tournament.
#pragma once

#include <vector>

#include "pairs/meeting.hpp"

namespace fairlead::probe {

/// What one process knows after its last meeting.
struct Findings {
  /// The meetings that this process led or followed to the end, and those it led in part.
  std::vector<PairResult> results;
  /// Whether a partner was given up; MPI then has messages that nobody will ever receive.
  bool has_given_up = false;
};

/// Meets all other processes, one after another. There is no barrier: a meeting begins when both
/// partners have come to it and no more than `concurrency` others are going on.
/// @param concurrency at least 1.
Findings walk_tournament(MPI_Comm comm, const Options& options, int concurrency,
                         ControlChannel& control, Exchange& exchange);

}  // namespace fairlead::probe
