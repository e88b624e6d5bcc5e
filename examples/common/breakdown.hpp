// SPDX-License-Identifier: Apache-2.0
// How the time of a solve divides into computation and communication.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdio>

#include "program.hpp"

namespace example {

/// Means over all ranks: they add up to the solve, but for ranks that are done early.
///
/// Source: Gong, He, Zhong, Network performance aware MPI collective communication operations in
/// the cloud (TPDS 2015), break their applications down so. Their third part, the overhead of
/// measuring the network and planning, comes before the program.
struct Breakdown {
  double computation_s = 0.0;
  double communication_s = 0.0;
};

/// Collective.
/// @param solve_s, communication_s  this rank's, waiting for others included
[[nodiscard]] inline Breakdown breakdown_of(double solve_s, double communication_s, MPI_Comm comm) {
  std::array<double, 2> sums{solve_s - communication_s, communication_s};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                comm);
  const double num_ranks = num_ranks_in(comm);
  return {.computation_s = sums[0] / num_ranks, .communication_s = sums[1] / num_ranks};
}

inline void print(const Breakdown& breakdown) {
  std::printf("computation_s  %.6f (mean of all ranks)\n", breakdown.computation_s);
  std::printf("communication_s %.6f (mean of all ranks)\n", breakdown.communication_s);
}

}  // namespace example
