// SPDX-License-Identifier: Apache-2.0
// The tracer's data about a window, so that no call has to ask MPI again.
#pragma once

#include <mpi.h>

#include <vector>

#include "handles/handle_facts.hpp"

namespace fairlead::intercept {

/// The targets of a window, translated to MPI_COMM_WORLD once.
struct Window {
  /// kOutsideWorld for processes of another MPI_COMM_WORLD.
  std::vector<int> world_rank_of_target;
};

/// The window's facts, computed at its first use. Takes a lock.
[[nodiscard]] FoundFacts<Window> find_window(MPI_Win win);

/// As `HandleFacts`. In MPICH a window and a communicator are numbers of one type.
void begin_window_release(MPI_Win win);
void end_window_release(MPI_Win win) noexcept;

}  // namespace fairlead::intercept
