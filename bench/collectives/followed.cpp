// SPDX-License-Identifier: Apache-2.0
// Linked to a program for SMPI: its gathers and bcasts follow the schedules of a file,
// where there are some; all else is MPICH2's.
#include <mpi.h>

#include <cstdlib>

#include "collectives.hpp"
#include "mpich2.hpp"
#include "operations.hpp"

namespace {

using fairlead::collectives::Operation;
using fairlead::collectives::Schedule;

const bench::Schedules& schedules() {
  static const bench::Schedules read = bench::schedules_in(std::getenv("FAIRLEAD_BENCH_SCHEDULES"));
  return read;
}

/// The schedule for an operation among all ranks, or null: then MPICH2's algorithm runs.
const Schedule* schedule_for(Operation operation, MPI_Comm comm) {
  if (comm != MPI_COMM_WORLD) return nullptr;
  for (const Schedule& schedule : schedules()) {
    if (schedule.operation == operation) return &schedule;
  }
  return nullptr;
}

}  // namespace

extern "C" int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  schedules();  // Reading them takes time, which is not the program's.
  bench::mpich2::make_native();
  return code;
}

extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Schedule* schedule = schedule_for(Operation::bcast, comm);
  if (schedule == nullptr || schedule->root != root) {
    return bench::mpich2::bcast(buffer, count, type, root, comm);
  }
  return fairlead::collectives::bcast(*schedule, bench::members_of(comm), buffer, count, type,
                                      root);
}

extern "C" int MPI_Gather(const void* out, int count, MPI_Datatype type, void* in, int count_in,
                          MPI_Datatype type_in, int root, MPI_Comm comm) {
  const Schedule* schedule = schedule_for(Operation::gather, comm);
  if (schedule == nullptr || schedule->root != root) {
    return bench::mpich2::gather(out, count, type, in, count_in, type_in, root, comm);
  }
  return fairlead::collectives::gather(*schedule, bench::members_of(comm), out, count, type, in,
                                       count_in, type_in, root);
}
