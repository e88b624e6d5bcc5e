// SPDX-License-Identifier: Apache-2.0
// The rendezvous at the start and at the end of a session: all ranks report to rank 0, which
// answers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pairs/tour.hpp"

namespace fairlead::probe {

/// Settings of all processes, chosen by rank 0 by how they are spread over machines.
struct Behaviour {
  int concurrency = 1;
  bool yields = false;
  /// Whether some of the hosts are one machine; known to rank 0 only.
  bool shares_machine = false;
};

/// Starts the session when all ranks have reported, or at a timeout; missing ranks are then given
/// up in the meetings.
Behaviour start_session(MPI_Comm comm, const Options& options, ControlChannel& control);

/// All results, at rank 0.
struct Outcome {
  std::vector<PairResult> results;
  int num_rounds = 0;
  /// Node name that each rank reported; empty where it did not report.
  std::vector<std::string> node_names;
  /// Equal for ranks on one host, whatever names it has; 0 where it is unknown.
  std::vector<std::uint64_t> host_identities;
  /// Whether all ranks reported and none was given up: only then can MPI be finalized.
  bool is_orderly = true;
};

/// Rank 0 collects the results of all ranks.
Outcome collect(MPI_Comm comm, Findings findings, ControlChannel& control);
/// The others send theirs and wait until rank 0 has written the result.
/// @param serve called now and then while waiting, to carry out rank 0's orders.
/// @param longest_pause_s between two calls.
/// @return whether no rank had an error.
bool hand_in(MPI_Comm comm, const Findings& findings, ControlChannel& control,
             const std::function<void()>& serve, double longest_pause_s);
/// Rank 0 ends the session.
void end_session(MPI_Comm comm, const Outcome& outcome, ControlChannel& control);

}  // namespace fairlead::probe
