// SPDX-License-Identifier: Apache-2.0
// Each process finds its own host, and all exchange what they found.
#include "plan/world_hosts.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "handles/communicator.hpp"
#include "plan/own_names.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

std::int32_t own_host(const NetworkPlan& network) noexcept try {
  return find_host(network, own_names());
} catch (const std::exception&) {
  return kUnknownHost;
}

}  // namespace

void require_success(int code) {
  if (code != MPI_SUCCESS) throw MpiFailure{code};
}

std::vector<std::int32_t> find_hosts_of_world(const NetworkPlan& network, const Session& session,
                                              void (*complain)(const char* problem)) {
  const std::int32_t own = own_host(network);
  std::vector<std::int32_t> hosts(static_cast<std::size_t>(session.num_ranks));
  mpi().Allgather(&own, sizeof own, byte_type(), hosts.data(), sizeof own, byte_type(),
                  comm_world());
  const auto unknown = std::find(hosts.begin(), hosts.end(), kUnknownHost);
  if (unknown == hosts.end()) return hosts;
  if (unknown - hosts.begin() == session.rank) {
    const std::vector<std::string> names = own_names();
    const std::string name = names.empty() ? "?" : names.front();
    complain(("host '" + name + "' is not in the plan").c_str());
  }
  return {};
}

std::vector<std::int32_t> hosts_of_members(std::span<const std::int32_t> host_of_world_rank,
                                           MPI_Comm comm) {
  if (comm == comm_null()) return {};
  int is_inter = 0;
  require_success(mpi().Comm_test_inter(comm, &is_inter));
  if (is_inter != 0) return {};
  MPI_Group members{};
  require_success(mpi().Comm_group(comm, &members));
  const std::vector<int> world_ranks = world_ranks_of(members);
  mpi().Group_free(&members);
  std::vector<std::int32_t> hosts;
  for (const int world_rank : world_ranks) {
    if (world_rank == kOutsideWorld) return {};
    hosts.push_back(host_of_world_rank[static_cast<std::size_t>(world_rank)]);
  }
  return hosts;
}

}  // namespace fairlead::intercept
