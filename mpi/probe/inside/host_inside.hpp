// SPDX-License-Identifier: Apache-2.0
// The inside of this host: its topology by hwloc, and how fast its CPUs exchange data.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "control_channel.hpp"
#include "options.hpp"
#include "pairs/rendezvous.hpp"

namespace fairlead::probe {

/// What this process finds out about its host, as one JSON object; empty where nothing was asked.
std::string look_inside(const InsideOptions& options, int rank);

/// Sends the report to rank 0. The report has to stay until the session has ended.
void send_report(MPI_Comm comm, const std::string& report);

/// Rank 0 receives the report of each rank; empty where a rank does not answer.
std::vector<std::string> collect_reports(MPI_Comm comm, std::string own, Outcome& outcome,
                                         ControlChannel& control);

}  // namespace fairlead::probe
