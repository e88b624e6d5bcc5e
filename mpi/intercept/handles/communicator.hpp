// SPDX-License-Identifier: Apache-2.0
// The tracer's data about a communicator, so that no call has to ask MPI again.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "handles/handle_facts.hpp"

namespace fairlead::intercept {

inline constexpr int kOutsideWorld = -1;

/// A communicator's ranks, translated to MPI_COMM_WORLD once.
struct Communicator {
  /// Ranks in the local group, and this process's rank among them.
  int size = 0;
  int rank = 0;
  bool is_inter = false;
  /// Stands for the ranks of MPI_COMM_WORLD in it and their order, the same on each of them; 0 for
  /// an intercommunicator, and where one of them is outside.
  std::uint64_t id = 0;
  /// World rank of each rank that messages can be sent to (the remote group of an
  /// intercommunicator); kOutsideWorld for processes of another MPI_COMM_WORLD.
  std::vector<int> world_rank_of_peer;
  /// Out-neighbours of a topology in the order of the send buffer; holds MPI_PROC_NULL where a
  /// Cartesian grid ends.
  std::vector<int> neighbors;

  [[nodiscard]] int num_peers() const { return static_cast<int>(world_rank_of_peer.size()); }
};

/// World rank of each member of a group; kOutsideWorld for processes of another MPI_COMM_WORLD.
[[nodiscard]] std::vector<int> world_ranks_of(MPI_Group group);

/// The communicator's facts, computed at its first use. Takes a lock.
[[nodiscard]] FoundFacts<Communicator> find_communicator(MPI_Comm comm);

/// As `HandleFacts`.
void begin_release(MPI_Comm comm);
void end_release(MPI_Comm comm) noexcept;

}  // namespace fairlead::intercept
