// SPDX-License-Identifier: Apache-2.0
// Which algorithm MPICH2 1.4 takes, on one level or on two.
#include "mpich2.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "hosts_of_ranks.hpp"
#include "mpich2_algorithms.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace bench::mpich2 {
namespace {

// MPICH2 1.4's defaults: src/mpi/coll/bcast.c and reduce.c.
constexpr std::size_t kBcastShortBytes = 12288;
constexpr std::size_t kBcastLongBytes = 524288;
constexpr int kBcastMinRanks = 8;
constexpr std::size_t kReduceShortBytes = 2048;

/// A communicator's processes by host: those on this one, and the first of each.
struct Nodes {
  std::vector<int> node_of_rank;
  std::vector<int> local_rank_of_rank;
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm firsts = MPI_COMM_NULL;  ///< MPI_COMM_NULL on a process that is not the first
  bool is_aware = false;  ///< some host has several processes, and there are several hosts
};

/// As MPICH2 keeps them with each communicator. Made at the first use, collectively.
const Nodes& nodes_of(MPI_Comm comm) {
  static std::map<MPI_Comm, Nodes> known;
  const auto found = known.find(comm);
  if (found != known.end()) return found->second;
  Nodes nodes;
  nodes.node_of_rank = hosts_of_ranks(comm);
  std::vector<int> num_of_node(nodes.node_of_rank.size());
  for (const int node : nodes.node_of_rank) {
    nodes.local_rank_of_rank.push_back(num_of_node[static_cast<std::size_t>(node)]++);
  }
  const bool is_several = num_of_node.size() > 1 && num_of_node[1] > 0;
  nodes.is_aware = is_several && *std::max_element(num_of_node.begin(), num_of_node.end()) > 1;
  if (nodes.is_aware) {
    const auto rank = static_cast<std::size_t>(rank_in(comm));
    MPI_Comm_split(comm, nodes.node_of_rank[rank], 0, &nodes.local);
    MPI_Comm_split(comm, nodes.local_rank_of_rank[rank] == 0 ? 0 : MPI_UNDEFINED, 0, &nodes.firsts);
  }
  return known.emplace(comm, std::move(nodes)).first->second;
}

void bcast_flat(const Vector& vector, int root, MPI_Comm comm) {
  const std::size_t num_bytes = vector.num_bytes();
  const int num_ranks = size_of(comm);
  if (num_bytes < kBcastShortBytes || num_ranks < kBcastMinRanks) {
    bcast_binomial(vector, root, comm);
  } else if (num_bytes < kBcastLongBytes && is_power_of_two(num_ranks)) {
    bcast_scatter_doubling(vector, root, comm);
  } else {
    bcast_scatter_ring(vector, root, comm);
  }
}

/// On two levels for short messages, and for medium ones among a power of two of processes;
/// otherwise around a ring of all processes.
void bcast_on_nodes(const Vector& vector, int root, MPI_Comm comm, const Nodes& nodes) {
  const std::size_t num_bytes = vector.num_bytes();
  const auto at_root = static_cast<std::size_t>(root),
             own = static_cast<std::size_t>(rank_in(comm));
  const bool is_on_root_node = nodes.node_of_rank[own] == nodes.node_of_rank[at_root];
  const int local_root = nodes.local_rank_of_rank[at_root];
  const int node_of_root = nodes.node_of_rank[at_root];
  if (num_bytes < kBcastShortBytes || size_of(comm) < kBcastMinRanks) {
    if (is_on_root_node && local_root > 0) {
      if (static_cast<int>(own) == root) {
        MPI_Send(vector.data, vector.count, vector.type, 0, kTag, nodes.local);
      } else if (nodes.firsts != MPI_COMM_NULL) {
        MPI_Recv(vector.data, vector.count, vector.type, local_root, kTag, nodes.local,
                 MPI_STATUS_IGNORE);
      }
    }
    if (nodes.firsts != MPI_COMM_NULL) bcast_binomial(vector, node_of_root, nodes.firsts);
    bcast_binomial(vector, 0, nodes.local);
  } else if (num_bytes < kBcastLongBytes && is_power_of_two(size_of(comm))) {
    if (is_on_root_node && local_root > 0) bcast_binomial(vector, local_root, nodes.local);
    if (nodes.firsts != MPI_COMM_NULL) {
      const bool is_power = is_power_of_two(size_of(nodes.firsts));
      (is_power ? bcast_scatter_doubling : bcast_scatter_ring)(vector, node_of_root, nodes.firsts);
    }
    if (!is_on_root_node || local_root == 0) bcast_binomial(vector, 0, nodes.local);
  } else {
    bcast_scatter_ring(vector, root, comm);
  }
}

void reduce_flat(const Vector& vector, MPI_Op op, int root, MPI_Comm comm) {
  const bool is_long =
      vector.num_bytes() > kReduceShortBytes && vector.count >= power_of_two_below(size_of(comm));
  (is_long ? reduce_halving_gather : reduce_binomial)(vector, op, root, comm);
}

/// In the other hosts first, then between the hosts, then in that of the root.
void reduce_on_nodes(const Vector& vector, MPI_Op op, int root, MPI_Comm comm, const Nodes& nodes) {
  const auto at_root = static_cast<std::size_t>(root),
             own = static_cast<std::size_t>(rank_in(comm));
  const bool is_on_root_node = nodes.node_of_rank[own] == nodes.node_of_rank[at_root];
  if (!is_on_root_node) reduce_flat(vector, op, 0, nodes.local);
  if (nodes.firsts != MPI_COMM_NULL) {
    reduce_flat(vector, op, nodes.node_of_rank[at_root], nodes.firsts);
  }
  if (is_on_root_node) reduce_flat(vector, op, nodes.local_rank_of_rank[at_root], nodes.local);
}

}  // namespace

int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Vector vector{buffer, count, type};
  const Nodes& nodes = nodes_of(comm);
  if (nodes.is_aware) {
    bcast_on_nodes(vector, root, comm, nodes);
  } else {
    bcast_flat(vector, root, comm);
  }
  return MPI_SUCCESS;
}

int reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm) {
  const std::size_t num_bytes = Vector{nullptr, count, type}.num_bytes();
  const bool is_root = rank_in(comm) == root;
  std::vector<std::byte> room(is_root ? 0 : num_bytes);
  void* sum = is_root ? in : room.data();
  if (out != MPI_IN_PLACE && out != sum) std::memcpy(sum, out, num_bytes);
  const Vector vector{sum, count, type};
  const Nodes& nodes = nodes_of(comm);
  if (nodes.is_aware) {
    reduce_on_nodes(vector, op, root, comm, nodes);
  } else {
    reduce_flat(vector, op, root, comm);
  }
  return MPI_SUCCESS;
}

void make_native() {
  auto& native = fairlead::intercept::detail::bound_mpi;
  native.Bcast = bcast;
  native.Reduce = reduce;
  native.Gather = gather;
  native.Scatter = scatter;
}

fairlead::tune::Calls calls(MPI_Comm comm) {
  fairlead::tune::Calls calls = fairlead::tune::native_calls(comm);
  calls.bcast = [comm](void* buffer, int count, MPI_Datatype type, int root) {
    return bcast(buffer, count, type, root, comm);
  };
  calls.reduce = [comm](const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                        int root) { return reduce(out, in, count, type, op, root, comm); };
  calls.gather = [comm](const void* out, void* in, int count, MPI_Datatype type, int root) {
    return gather(out, count, type, in, count, type, root, comm);
  };
  calls.scatter = [comm](const void* out, void* in, int count, MPI_Datatype type, int root) {
    return scatter(out, count, type, in, count, type, root, comm);
  };
  return calls;
}

}  // namespace bench::mpich2
