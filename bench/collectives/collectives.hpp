// SPDX-License-Identifier: Apache-2.0
// The collective operations as a table of functions, so that each method can be timed alike.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "fairlead/collectives/schedule.hpp"

namespace bench {

/// The operations with MPI's own parameters; blocks of equal size, one datatype.
struct Collectives {
  int (*bcast)(void*, int, MPI_Datatype, int root, MPI_Comm);
  int (*reduce)(const void*, void*, int, MPI_Datatype, MPI_Op, int root, MPI_Comm);
  int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*scatter)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int root, MPI_Comm);
  int (*gather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int root, MPI_Comm);
  int (*allgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*reduce_scatter)(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*barrier)(MPI_Comm);
};

/// Bine trees where messages are small.
/// @pre The number of ranks is a power of two; no buffer is MPI_IN_PLACE.
Collectives bine_small();

/// The same with the data split over the ranks where that moves less of it.
Collectives bine_large();

using Schedules = std::vector<fairlead::collectives::Schedule>;

/// The schedules of a file: a JSON list of what `Schedule.to_json` of the Python package wrote.
Schedules schedules_in(const std::string& path);

/// What follows the schedule, until the next call of this function; it has to stay where it is.
Collectives planned(const fairlead::collectives::Schedule& schedule);

}  // namespace bench
