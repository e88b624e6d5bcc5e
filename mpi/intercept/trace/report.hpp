// SPDX-License-Identifier: Apache-2.0
// Gathers the counters of all ranks to world rank 0, which writes the trace file.
#pragma once

#include <mpi.h>

#include <string>

#include "trace/counters.hpp"

namespace fairlead::intercept {

/// The lines of one rank in the trace file (format: docs/design/tracing.md).
[[nodiscard]] std::string lines_of_rank(int rank, double run_time_s, const Counters& counters);

/// Sends this rank's lines to rank 0, which writes the file at once: whole or not at all.
/// Collective over `comm`. A file that cannot be written is reported in one line on stderr.
void write_trace(MPI_Comm comm, const std::string& path, const std::string& own_lines);

}  // namespace fairlead::intercept
