// SPDX-License-Identifier: Apache-2.0
// The three calls: agree on roles, give each process the rank of its role, then let the MPI make
// the topology on this reordered communicator with reorder = 0, each process with the arguments of
// its role. So all queries about the result give the MPI's own answers after reorder = 0.
#include <memory>
#include <optional>

#include "pmpi/cancellation.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/returned_errors.hpp"
#include "reorder/graph_arguments.hpp"
#include "reorder/reorder_state.hpp"
#include "reorder/role_agreement.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept {
namespace {

using Roles = std::vector<std::int32_t>;

WeightMarks marks() {
  return {unweighted(), weights_empty()};
}

bool is_identity(const Roles& roles) {
  for (std::size_t process = 0; process < roles.size(); ++process) {
    if (roles[process] != static_cast<std::int32_t>(process)) return false;
  }
  return true;
}

// FNV-1a over numbers that must be the same on all ranks.
std::int32_t fingerprint_of(std::span<const int> dims, std::span<const int> periods) {
  std::uint32_t hash = 2166136261u;
  for (const int extent : dims) hash = (hash ^ static_cast<std::uint32_t>(extent)) * 16777619u;
  for (const int period : periods) hash = (hash ^ (period != 0 ? 1u : 0u)) * 16777619u;
  return static_cast<std::int32_t>(hash);
}

// The first rank contributes all edges, since all ranks have the same grid.
Contribution contribute_grid(MPI_Comm comm, int num_ranks, int num_dimensions, const int* dims,
                             const int* periods) noexcept try {
  if (!is_grid(num_ranks, num_dimensions, dims, periods)) return {};
  const std::span extents(dims, static_cast<std::size_t>(num_dimensions));
  const std::span are_periodic(periods, static_cast<std::size_t>(num_dimensions));
  Contribution contribution{
      .is_valid = true, .fingerprint = fingerprint_of(extents, are_periodic), .edges = {}};
  if (rank_in(comm) == 0) contribution.edges = grid_edges(extents, are_periodic);
  return contribution;
} catch (...) {
  return {};
}

// A rank's contribution, and the arguments for the holder of its role: none if all ranks have the
// same. A rank that cannot pack its arguments cannot take part; the others learn of both cases.
struct Packed {
  Contribution contribution;
  std::optional<Integers> arguments;
};

template <class Pack, class Edges>
Packed packed_by(Pack pack, Edges edges) noexcept try {
  std::optional<Integers> arguments = pack();
  if (!arguments) return {};
  Contribution contribution{
      .is_valid = true, .fingerprint = is_weighted(*arguments) ? 1 : 0, .edges = edges(*arguments)};
  return {std::move(contribution), std::move(arguments)};
} catch (...) {
  return {};
}

// The communicator on which a process has its role, and the arguments of that role.
struct Reordered {
  Reordered(MPI_Comm comm_old, const Roles& roles) : comm(comm_old, roles) {}
  ReorderedCommunicator comm;
  Integers arguments;
};

// The result of a call. Owns `reordered`, but by hand: the MPI's own call that follows may be left
// by a jump, an exception or the end of its thread, which then must find nothing to clean up.
struct Decision {
  int code = MPI_SUCCESS;
  int may_reorder = 0;  // in the MPI's own call on the old communicator, where nothing is reordered
  Reordered* reordered = nullptr;
};

// Runs a function that may fail half-way: the program gets the code of the call that failed.
template <class Body>
[[gnu::noinline]] Decision decide(Body body) noexcept {
  const NoCancellation no_cancellation;
  try {
    return body();
  } catch (const MpiFailure& failure) {
    return {.code = failure.code};
  } catch (...) {
    return {.code = MPI_ERR_NO_MEM};
  }
}

// An error that the program's own handler gets before anything is begun.
int check(MPI_Comm comm) {
  int is_inter = 0;
  return comm == comm_null() ? MPI_SUCCESS : mpi().Comm_test_inter(comm, &is_inter);
}

// The program's handler gets the error of an agreement when nothing of it is left on the stack.
int failed(MPI_Comm comm, int code) {
  mpi().Comm_call_errhandler(comm, code);
  return code;
}

// On which communicator the MPI is to make a topology where all keep their ranks.
enum class Parent : bool { old, fresh };

// Open MPI sends the edges of a distributed graph with two tags to which the nonblocking
// collectives of a communicator come in turn, and makes the new communicator by such collectives:
// after 23 or 24 of them on one communicator all ranks may wait for ever (open-mpi/ompi pull
// request 13931). On a communicator of its own the graph is made before that.
#if defined(OPEN_MPI)
constexpr Parent kParentOfGraph = Parent::fresh;
#else
constexpr Parent kParentOfGraph = Parent::old;
#endif

// The result of the agreed roles; the holder of each role gets the arguments of its former holder.
// `pack` makes a rank's part, given their number.
template <class Pack>
Decision decide_on_roles(MPI_Comm comm_old, int may_reorder, Parent parent, Pack pack) {
  if (comm_old == comm_null()) return {.may_reorder = may_reorder};
  return decide([&]() -> Decision {
    const ReturnedErrors errors(comm_old);
    const std::vector<std::int32_t> hosts =
        hosts_of_members(reorder_state().host_of_world_rank, comm_old);
    if (hosts.empty()) return {.may_reorder = may_reorder};
    const Packed own = pack(static_cast<int>(hosts.size()));
    const Roles roles = agree_on_roles(reorder_state(), comm_old, hosts, own.contribution);
    if (roles.empty()) return {.may_reorder = may_reorder};
    const bool is_same_order = is_identity(roles);
    if (!is_same_order && rank_in(comm_old) == 0) reorder_state().num_reordered.fetch_add(1);
    if (parent == Parent::old && is_same_order) return {};
    auto reordered = std::make_unique<Reordered>(comm_old, roles);
    if (own.arguments) reordered->arguments = reordered->comm.exchanged(*own.arguments, roles);
    errors.hand_on(reordered->comm.get());
    return {.reordered = reordered.release()};
  });
}

// Makes the topology on the reordered communicator; `make` is the MPI's own call.
template <class Make>
int on_reordered(Reordered* reordered, Make make) {
  const int code = make();
  const std::unique_ptr<Reordered> owner(reordered);
  return code;
}

}  // namespace

// Handlers. An exception may pass through them: of a handler of the program's for errors of the
// MPI, or of its thread's end.
namespace reorder {

int Cart_create(MPI_Comm comm_old, int num_dimensions, const int dims[], const int periods[],
                int may_reorder, MPI_Comm* comm) {
  const auto native = [=](MPI_Comm parent, int reorder) {
    return mpi().Cart_create(parent, num_dimensions, dims, periods, reorder, comm);
  };
  if (may_reorder == 0) return native(comm_old, 0);
  if (const int code = check(comm_old); code != MPI_SUCCESS) return code;
  const Decision decision =
      decide_on_roles(comm_old, may_reorder, Parent::old, [&](int num_ranks) -> Packed {
        return {contribute_grid(comm_old, num_ranks, num_dimensions, dims, periods), std::nullopt};
      });
  if (decision.code != MPI_SUCCESS) return failed(comm_old, decision.code);
  if (decision.reordered == nullptr) return native(comm_old, decision.may_reorder);
  return on_reordered(decision.reordered,
                      [&] { return native(decision.reordered->comm.get(), 0); });
}

int Dist_graph_create(MPI_Comm comm_old, int num_sources, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int may_reorder,
                      MPI_Comm* comm) {
  const auto native = [=](int reorder) {
    return mpi().Dist_graph_create(comm_old, num_sources, sources, degrees, destinations, weights,
                                   info, reorder, comm);
  };
  if (may_reorder == 0) return native(0);
  if (const int code = check(comm_old); code != MPI_SUCCESS) return code;
  const Decision decision =
      decide_on_roles(comm_old, may_reorder, kParentOfGraph, [&](int num_ranks) {
        return packed_by(
            [&] {
              return GraphArguments::pack(num_ranks, marks(), num_sources, sources, degrees,
                                          destinations, weights);
            },
            [](const Integers& packed) { return GraphArguments(packed, marks()).edges(marks()); });
      });
  if (decision.code != MPI_SUCCESS) return failed(comm_old, decision.code);
  if (decision.reordered == nullptr) return native(decision.may_reorder);
  const GraphArguments role(decision.reordered->arguments, marks());
  return on_reordered(decision.reordered, [&] {
    return mpi().Dist_graph_create(decision.reordered->comm.get(), role.num_sources, role.sources,
                                   role.degrees, role.destinations, role.weights, info, 0, comm);
  });
}

int Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                               const int source_weights[], int outdegree, const int destinations[],
                               const int destination_weights[], MPI_Info info, int may_reorder,
                               MPI_Comm* comm) {
  const auto native = [=](int reorder) {
    return mpi().Dist_graph_create_adjacent(comm_old, indegree, sources, source_weights, outdegree,
                                            destinations, destination_weights, info, reorder, comm);
  };
  if (may_reorder == 0) return native(0);
  if (const int code = check(comm_old); code != MPI_SUCCESS) return code;
  const Decision decision = decide_on_roles(comm_old, may_reorder, Parent::old, [&](int num_ranks) {
    const int rank = rank_in(comm_old);
    return packed_by(
        [&] {
          return AdjacentArguments::pack(num_ranks, marks(), indegree, sources, source_weights,
                                         outdegree, destinations, destination_weights);
        },
        [rank](const Integers& packed) {
          return AdjacentArguments(packed, marks()).edges(rank, marks());
        });
  });
  if (decision.code != MPI_SUCCESS) return failed(comm_old, decision.code);
  if (decision.reordered == nullptr) return native(decision.may_reorder);
  const AdjacentArguments role(decision.reordered->arguments, marks());
  return on_reordered(decision.reordered, [&] {
    return mpi().Dist_graph_create_adjacent(
        decision.reordered->comm.get(), role.indegree, role.sources, role.source_weights,
        role.outdegree, role.destinations, role.destination_weights, info, 0, comm);
  });
}

}  // namespace reorder
}  // namespace fairlead::intercept
