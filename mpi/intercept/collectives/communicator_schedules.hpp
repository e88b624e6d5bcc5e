// SPDX-License-Identifier: Apache-2.0
// The schedules of a communicator: planned at the first call that needs them, kept with it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "collectives/drift_watch.hpp"
#include "collectives/rules.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "members.hpp"

namespace fairlead::intercept {

/// The plan, and the host of each process of MPI_COMM_WORLD.
struct CollectivesState {
  CollectivesPlan plan;
  int rank = 0;  ///< of this process
  std::vector<std::int32_t> host_of_world_rank;
};

/// The state of this process; never destroyed, and constant while collectives follow schedules.
[[nodiscard]] CollectivesState& collectives_state();

/// A call by what MPI guarantees to be equal on all its ranks. No datatype and no count: these may
/// differ.
struct CollectiveCall {
  fairlead::collectives::Operation operation{};
  /// As rules have it: the whole vector, or the block of one rank; 0 only for a barrier.
  std::uint64_t bytes = 0;
  int root = fairlead::collectives::kNoHost;  ///< a rank
};

/// What a call follows. Without a schedule it is the MPI's own, also where it is watched.
struct Followed {
  const fairlead::collectives::Schedule* schedule = nullptr;
  fairlead::collectives::Members* members = nullptr;
  PlannedCalls* watched = nullptr;  ///< null: not watched
};

/// The schedule of a call, the same on all ranks. Collective over the communicator where there is a
/// rule for the operation.
/// @pre the root, if the operation has one, is a rank of the communicator
/// @throws MpiFailure
[[nodiscard]] Followed find_schedule(MPI_Comm comm, const CollectiveCall& call);

/// Checks the times of calls that are due for it (`DriftWatch`). Collective over the
/// communicator.
/// @throws MpiFailure
void check_calls(MPI_Comm comm, PlannedCalls& calls);

/// Ranks of a communicator that rules are for; 0 for all others.
[[nodiscard]] int num_ranks_with_rules(MPI_Comm comm);

/// Drops what is kept with a communicator that is not freed by the program; collective.
void forget_schedules(MPI_Comm comm);

}  // namespace fairlead::intercept
