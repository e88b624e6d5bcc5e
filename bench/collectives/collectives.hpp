// SPDX-License-Identifier: Apache-2.0
// Algorithms of collectives in SMPI, in addition to those of mpi/tune.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "fairlead/collectives/schedule.hpp"
#include "members.hpp"
#include "tune/calls.hpp"

namespace bench {

/// Bine trees where messages are small.
/// @pre The number of ranks is a power of two; no buffer is MPI_IN_PLACE.
fairlead::tune::Calls bine_small(MPI_Comm comm);

/// The same with the data split over the ranks where that moves less of it.
fairlead::tune::Calls bine_large(MPI_Comm comm);

using Schedules = std::vector<fairlead::collectives::Schedule>;

/// The schedules of a file: a JSON list of what `Schedule.to_json` of the Python package wrote.
Schedules schedules_in(const std::string& path);

/// What is kept with the communicator; hosts are numbered by their first rank. Collective.
fairlead::collectives::Members& members_of(MPI_Comm comm);

}  // namespace bench
