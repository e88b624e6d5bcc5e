// SPDX-License-Identifier: Apache-2.0
// The frame of an MPI program: starts and ends MPI, and turns a wrong command line into exit
// code 2.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <span>

#include "options.hpp"

namespace example {

inline constexpr int kPassed = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

[[nodiscard]] inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

[[nodiscard]] inline int num_ranks_in(MPI_Comm comm) {
  int num_ranks = 0;
  MPI_Comm_size(comm, &num_ranks);
  return num_ranks;
}

/// Runs `body(arguments)` between MPI_Init and MPI_Finalize. Collective.
/// @param body Returns the exit code. It may throw UsageError, on all ranks alike.
template <typename Body>
[[nodiscard]] int run_program(const char* name, int argc, char** argv, Body body) {
  MPI_Init(&argc, &argv);
  int exit_code = kWrongUsage;
  try {
    exit_code = body(std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
  } catch (const UsageError& error) {
    if (rank_in(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "%s: %s\n", name, error.what());
  } catch (const std::exception& error) {
    // Only one rank fails here, for example without memory: the others would wait forever.
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, kFailed);
  }
  MPI_Finalize();
  return exit_code;
}

}  // namespace example
