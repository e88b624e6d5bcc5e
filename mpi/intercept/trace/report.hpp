// SPDX-License-Identifier: Apache-2.0
// Gathers the records of all ranks to world rank 0, which writes the trace file.
#pragma once

#include <mpi.h>

#include <string>

#include "trace/record.hpp"

namespace fairlead::intercept {

/// Sends this rank's record to rank 0, which writes the file at once: whole or not at all.
/// Collective over `comm`. A file that cannot be written is reported in one line on stderr.
void write_trace(MPI_Comm comm, const std::string& path, const RankRecord& own);

}  // namespace fairlead::intercept
