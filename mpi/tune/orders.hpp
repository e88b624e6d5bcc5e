// SPDX-License-Identifier: Apache-2.0
// Orders come one per line on the standard input of rank 0, which sends them to the others.
#pragma once

#include <mpi.h>

#include <string>

namespace fairlead::tune {

/// Waits, mostly asleep, for the next line; to be called by all ranks. Empty at the end of the
/// input.
[[nodiscard]] std::string next_order(MPI_Comm comm);

}  // namespace fairlead::tune
