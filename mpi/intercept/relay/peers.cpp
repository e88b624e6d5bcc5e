// SPDX-License-Identifier: Apache-2.0
// Finds and keeps the facts of communicators.
#include "relay/peers.hpp"

#include <mutex>
#include <utility>

#include "handles/communicator.hpp"
#include "handles/releases.hpp"
#include "pmpi/comm_attribute.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/relay.hpp"

namespace fairlead::intercept::relay {

Peers::~Peers() {
  if (last_errhandler) mpi().Errhandler_free(&*last_errhandler);
}

namespace {

using Kept = std::shared_ptr<Peers>;

// The attribute that keeps the facts. While an MPI destroys it, it may hold a lock that all its
// functions for attributes take, as old versions of Open MPI do. So the destructor takes no lock
// under which such a function is called.
struct Attached {
  Kept peers;

  explicit Attached(Kept made) : peers(std::move(made)) {}
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() {
    // Pending receives use the facts, and so does the call that frees the communicator, since a
    // receive may begin in a later delete callback.
    if (peers.use_count() == 1) return;
    const std::lock_guard guard(peers->lock);
    MPI_Errhandler errhandler{};
    const int code = mpi().Comm_get_errhandler(peers->comm, &errhandler);
    if (code == MPI_SUCCESS) peers->last_errhandler = errhandler;
  }
};

CommAttribute<Attached>& attribute() {
  static CommAttribute<Attached> made;
  return made;
}

Kept examine(MPI_Comm comm) {
  int is_inter = 0;
  mpi().Comm_test_inter(comm, &is_inter);
  MPI_Group group{};
  if (is_inter != 0) {
    mpi().Comm_remote_group(comm, &group);
  } else {
    mpi().Comm_group(comm, &group);
  }
  auto peers = std::make_shared<Peers>();
  peers->comm = comm;
  peers->world_rank_of_peer = world_ranks_of(group);
  mpi().Group_free(&group);
  for (const int rank : peers->world_rank_of_peer) {
    peers->is_remote.push_back(feature().is_remote(rank));
    peers->has_remote |= peers->is_remote.back();
  }
  return peers;
}

// Null if there is none. What is attached stays until the communicator is freed, which no program
// does while another thread uses it.
Kept attached_to(MPI_Comm comm, int& code) {
  Attached* const attached = attribute().find(comm, code);
  return attached != nullptr ? attached->peers : nullptr;
}

Kept find(MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (Kept peers = attached_to(comm, code)) return peers;
  // It is none of the MPI's.
  if (code != MPI_SUCCESS) return nullptr;
  Kept peers = examine(comm);
  // One of several threads attaches its own.
  static std::mutex attaching;
  const std::lock_guard guard(attaching);
  if (Kept others = attached_to(comm, code)) return others;
  (void)attribute().set(comm, std::make_unique<Attached>(peers));
  return peers;
}

// In a delete callback, where attributes must not be read.
Kept find_freed(MPI_Comm comm) {
  if (auto kept = kept_while_freed(comm)) return std::static_pointer_cast<Peers>(kept);
  Kept peers = examine(comm);
  keep_while_freed(comm, peers);
  return peers;
}

}  // namespace

std::shared_ptr<Peers> known_peers_of(MPI_Comm comm) {
  if (!feature().messenger || comm == comm_null() || comm == comm_world()) return nullptr;
  int code = MPI_SUCCESS;
  return attached_to(comm, code);
}

std::shared_ptr<Peers> peers_of(MPI_Comm comm) {
  if (comm == comm_null()) return nullptr;
  if (comm != comm_world()) return is_being_freed(comm) ? find_freed(comm) : find(comm);
  static const Kept world = examine(comm);
  return world;
}

}  // namespace fairlead::intercept::relay
