// SPDX-License-Identifier: Apache-2.0
// Topologies whose ranks may be reordered: placed by the measured network and the given edges.
// On trouble every rank makes the MPI's own call instead (docs/design/reorder.md).
#pragma once

#include <mpi.h>

#include <atomic>

namespace fairlead::intercept {

/// True between MPI_Init and MPI_Finalize where the plan asks for it. All it costs when off.
extern std::atomic<bool> reordering;
[[nodiscard]] inline bool is_reordering() noexcept {
  return reordering.load(std::memory_order_acquire);
}

/// Reads the plan in `folder` on the first rank that sees it, finds the host of every process, and
/// begins; or says one line and stays off, on all ranks alike. Collective over MPI_COMM_WORLD.
void begin_reordering(const char* folder) noexcept;

void end_reordering() noexcept;

// What stands behind the three calls while `is_reordering`. An exception may pass through them: of
// a handler of the program's for errors of the MPI, or of its thread's end.
namespace reorder {

int cart_create(MPI_Comm comm_old, int num_dimensions, const int dims[], const int periods[],
                int may_reorder, MPI_Comm* comm);
int dist_graph_create(MPI_Comm comm_old, int num_sources, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int may_reorder,
                      MPI_Comm* comm);
int dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                               const int source_weights[], int outdegree, const int destinations[],
                               const int destination_weights[], MPI_Info info, int may_reorder,
                               MPI_Comm* comm);

}  // namespace reorder
}  // namespace fairlead::intercept
