// SPDX-License-Identifier: Apache-2.0
// Further orders: rank 0 reads them from its standard input, one per line, and sends them to the
//   others.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "options.hpp"

namespace fairlead::probe {

/// Waits, mostly asleep, for the next order; to be called by all ranks, each order in turn.
/// @param silence_timeout_s how long rank 0 tries to reach the others.
/// @return none at the end of rank 0's input, or if a rank could not be reached.
std::optional<Options> next_order(MPI_Comm comm, double silence_timeout_s);

}  // namespace fairlead::probe
