// SPDX-License-Identifier: Apache-2.0
// The rendezvous at the start and at the end of a session: all report to rank 0, which decides and
// answers.
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

/// Starts the session when all ranks have reported. A rank that does not in time is left to the
/// meetings.
Behaviour start_session(MPI_Comm comm, const Options& options, ControlChannel& control);

/// Everything that was found, at rank 0.
struct Outcome {
  std::vector<PairResult> results;
  /// Node name that each rank reported; empty where it did not report.
  std::vector<std::string> node_names;
  /// Whether all reported and none was given up: only then can MPI be finalized.
  bool is_orderly = true;
};

/// Rank 0 collects the findings of all.
Outcome collect(MPI_Comm comm, Findings findings, ControlChannel& control);
/// The others hand theirs in and wait until rank 0 has written the result.
/// @param serve called now and then while waiting, to do what rank 0 orders meanwhile.
/// @param longest_pause_s between two calls.
/// @return whether all went well everywhere.
bool hand_in(MPI_Comm comm, const Findings& findings, ControlChannel& control,
             const std::function<void()>& serve, double longest_pause_s);
/// Rank 0 ends the session.
void end_session(MPI_Comm comm, const Outcome& outcome, ControlChannel& control);

}  // namespace fairlead::probe
