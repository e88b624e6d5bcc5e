// SPDX-License-Identifier: Apache-2.0
// The meetings of one process in the tournament.
#pragma once

#include <vector>

#include "pairs/meeting.hpp"

namespace fairlead::probe {

/// The results of one process after its last meeting.
struct Findings {
  /// The meetings that this process led or followed to the end, and those it led partly.
  std::vector<PairResult> results;
  /// Rounds of all processes together.
  int num_rounds = 0;
  /// Whether a partner was given up; MPI then has messages that will never be received.
  bool has_given_up = false;
};

/// Meets all other processes, one after another. There is no barrier: a meeting begins when both
/// partners have reached it and its turn has come.
/// @param concurrency at least 1.
Findings walk_tournament(MPI_Comm comm, const Options& options, int concurrency,
                         ControlChannel& control, Exchange& exchange);

}  // namespace fairlead::probe
