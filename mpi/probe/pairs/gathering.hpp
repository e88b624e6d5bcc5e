// SPDX-License-Identifier: Apache-2.0
// The start and the end of a run: everybody reports to rank 0, which decides and answers.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "pairs/tour.hpp"

namespace fairlead::probe {

/// How all processes behave, decided by rank 0 from who runs where.
struct Behaviour {
  int concurrency = 1;
  bool yields = false;
  /// Whether some of the hosts are one machine; known to rank 0 only.
  bool shares_machine = false;
};

/// Waits until everybody is there. Ranks that do not come in time are left to the meetings.
Behaviour assemble(MPI_Comm comm, const Options& options, Mailbox& mailbox);

/// Everything that was found, at rank 0.
struct Outcome {
  std::vector<PairResult> results;
  /// Node name that each rank reported; empty where it did not report.
  std::vector<std::string> node_names;
  /// Whether everybody reported and nobody was given up: only then can MPI be left in order.
  bool is_orderly = true;
};

/// Rank 0 collects the findings of all.
Outcome collect(MPI_Comm comm, Findings findings, Mailbox& mailbox);
/// The others hand theirs in and wait until rank 0 has written the result.
/// @param serve called now and then while waiting, to do what rank 0 may want meanwhile.
/// @param longest_pause_s between two calls.
/// @return whether all went well everywhere.
bool hand_in(MPI_Comm comm, const Findings& findings, Mailbox& mailbox,
             const std::function<void()>& serve, double longest_pause_s);
/// Rank 0 lets the others go.
void dismiss(MPI_Comm comm, const Outcome& outcome, Mailbox& mailbox);

}  // namespace fairlead::probe
