// SPDX-License-Identifier: Apache-2.0
// The tracer's data about a communicator, so that no call has to ask MPI again.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace fairlead::intercept {

inline constexpr int kOutsideWorld = -1;

/// A communicator's ranks, translated to MPI_COMM_WORLD once.
struct Communicator {
  /// Ranks in the local group, and the own rank among them.
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

/// A communicator's facts; not lasting while its handle is being released.
struct FoundCommunicator {
  std::shared_ptr<const Communicator> communicator;
  bool is_lasting;
};

/// The communicator's facts from a table shared by all threads; computed at its first use.
/// Takes a lock: threads keep a lasting result, and ask again only when the generation has changed.
[[nodiscard]] FoundCommunicator find_communicator(MPI_Comm comm);

/// Drops a communicator whose handle is about to die, and starts a new generation. Until the
/// release has ended, the handle is examined anew at each use: at first an attribute's delete
/// callback may communicate by it, and later it may be the handle of another thread's new
/// communicator.
void begin_release(MPI_Comm comm);
void end_release(MPI_Comm comm) noexcept;

namespace detail {
extern std::atomic<std::uint64_t> generation;
}

/// Changes whenever a handle may have got another meaning. Read at each message.
[[nodiscard]] inline std::uint64_t communicator_generation() noexcept {
  return detail::generation.load(std::memory_order_acquire);
}

}  // namespace fairlead::intercept
