// SPDX-License-Identifier: Apache-2.0
// Finds and keeps the facts of communicators.
#include "relay/peers.hpp"

#include <utility>

#include "handles/communicator.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/relay.hpp"

namespace fairlead::intercept::relay {
namespace {

using Kept = std::shared_ptr<Peers>;

// Protects the attributes.
std::mutex lock;

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int forget(MPI_Comm, int, void* attribute, void*) {
  const std::lock_guard guard(lock);
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(attribute));
  return MPI_SUCCESS;
}

int keyval() {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    mpi().Comm_create_keyval(&copy_nothing, &forget, &key, nullptr);
    return key;
  }();
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
  peers->world_rank_of_peer = world_ranks_of(group);
  mpi().Group_free(&group);
  for (const int rank : peers->world_rank_of_peer) {
    peers->is_remote.push_back(feature().is_remote(rank));
    peers->has_remote |= peers->is_remote.back();
  }
  return peers;
}

Kept find(MPI_Comm comm) {
  void* attribute = nullptr;
  int has_attribute = 0;
  {
    const std::lock_guard guard(lock);
    mpi().Comm_get_attr(comm, keyval(), static_cast<void*>(&attribute), &has_attribute);
    if (has_attribute != 0) return *static_cast<Kept*>(attribute);
  }
  // Not under the lock: the MPI may call `forget`.
  auto kept = std::make_unique<Kept>(examine(comm));
  Kept peers = *kept;
  static std::mutex making;
  const std::lock_guard guard(making);
  mpi().Comm_get_attr(comm, keyval(), static_cast<void*>(&attribute), &has_attribute);
  if (has_attribute != 0) {
    const std::lock_guard reading(lock);
    return *static_cast<Kept*>(attribute);
  }
  mpi().Comm_set_attr(comm, keyval(), kept.release());
  return peers;
}

}  // namespace

std::shared_ptr<Peers> peers_of(MPI_Comm comm) {
  if (comm == comm_null()) return nullptr;
  if (comm != comm_world()) return find(comm);
  static const Kept world = examine(comm);
  return world;
}

}  // namespace fairlead::intercept::relay
