// SPDX-License-Identifier: Apache-2.0
// Translates a communicator's ranks to world ranks and remembers the result until it is freed.
#include "handles/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "pmpi/mpi_symbols.hpp"
#include "pmpi/simulated.hpp"

namespace fairlead::intercept {
namespace {

// Never destroyed: threads may still trace while static objects are torn down.
HandleFacts<MPI_Comm, Communicator>& communicators() {
  static auto* const instance = new HandleFacts<MPI_Comm, Communicator>;
  return *instance;
}

// MPI 4.0, section 8.6: the send buffer holds two parts per dimension, negative direction first.
std::vector<int> cartesian_neighbors(MPI_Comm comm) {
  int num_dimensions = 0;
  mpi().Cartdim_get(comm, &num_dimensions);
  std::vector<int> neighbors;
  for (int dimension = 0; dimension < num_dimensions; ++dimension) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    mpi().Cart_shift(comm, dimension, 1, &below, &above);
    neighbors.push_back(below);
    neighbors.push_back(above);
  }
  return neighbors;
}

std::vector<int> graph_neighbors(MPI_Comm comm, int rank) {
  int count = 0;
  mpi().Graph_neighbors_count(comm, rank, &count);
  std::vector<int> neighbors(static_cast<std::size_t>(count));
  mpi().Graph_neighbors(comm, rank, count, neighbors.data());
  return neighbors;
}

std::vector<int> distributed_graph_neighbors(MPI_Comm comm) {
  int num_sources = 0;
  int num_destinations = 0;
  int is_weighted = 0;
  mpi().Dist_graph_neighbors_count(comm, &num_sources, &num_destinations, &is_weighted);
  std::vector<int> sources(static_cast<std::size_t>(num_sources));
  std::vector<int> source_weights(sources.size());
  std::vector<int> destinations(static_cast<std::size_t>(num_destinations));
  std::vector<int> destination_weights(destinations.size());
  mpi().Dist_graph_neighbors(comm, num_sources, sources.data(), source_weights.data(),
                             num_destinations, destinations.data(), destination_weights.data());
  return destinations;
}

std::vector<int> neighbors_of(MPI_Comm comm, int rank) {
  if constexpr (kIsSimulated) return {};
  int topology = MPI_UNDEFINED;
  mpi().Topo_test(comm, &topology);
  if (topology == MPI_CART) return cartesian_neighbors(comm);
  if (topology == MPI_GRAPH) return graph_neighbors(comm, rank);
  if (topology == MPI_DIST_GRAPH) return distributed_graph_neighbors(comm);
  return {};
}

// Source: FNV-1a of 64 bits (Fowler, Noll, Vo), over ranks instead of bytes.
std::uint64_t id_of(const std::vector<int>& world_ranks) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const int rank : world_ranks) {
    if (rank == kOutsideWorld) return 0;
    hash = (hash ^ static_cast<std::uint64_t>(rank)) * 0x00000100000001b3;
  }
  return std::max<std::uint64_t>(1, hash);
}

std::shared_ptr<const Communicator> describe(MPI_Comm comm) {
  auto described = std::make_shared<Communicator>();
  int is_inter = 0;
  mpi().Comm_test_inter(comm, &is_inter);
  mpi().Comm_size(comm, &described->size);
  mpi().Comm_rank(comm, &described->rank);
  described->is_inter = is_inter != 0;
  MPI_Group peers{};
  if (described->is_inter) {
    mpi().Comm_remote_group(comm, &peers);
  } else {
    mpi().Comm_group(comm, &peers);
    described->neighbors = neighbors_of(comm, described->rank);
  }
  described->world_rank_of_peer = world_ranks_of(peers);
  if (!described->is_inter) described->id = id_of(described->world_rank_of_peer);
  mpi().Group_free(&peers);
  return described;
}

}  // namespace

std::vector<int> world_ranks_of(MPI_Group group) {
  int size = 0;
  mpi().Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> world_ranks(ranks.size(), kOutsideWorld);
  MPI_Group world{};
  mpi().Comm_group(comm_world(), &world);
  mpi().Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
  mpi().Group_free(&world);
  for (int& rank : world_ranks) {
    if (rank == MPI_UNDEFINED) rank = kOutsideWorld;
  }
  return world_ranks;
}

FoundFacts<Communicator> find_communicator(MPI_Comm comm) {
  return communicators().find(comm, &describe);
}

void begin_release(MPI_Comm comm) {
  communicators().begin_release(comm);
}

void end_release(MPI_Comm comm) noexcept {
  communicators().end_release(comm);
}

}  // namespace fairlead::intercept
