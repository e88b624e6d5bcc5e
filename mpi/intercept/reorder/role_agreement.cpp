// SPDX-License-Identifier: Apache-2.0
// The agreement uses collectives on the program's communicator only, as the call itself does: a
// message to a rank could be taken by a wildcard receive of the program.
#include "reorder/role_agreement.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

constexpr int kRoot = 0;
constexpr int kTag = 0;

struct Header {
  std::int32_t is_valid;
  std::int32_t fingerprint;
  std::int32_t num_edges;
};

// Data of the agreement's root; empty elsewhere.
struct Collected {
  std::vector<Header> headers;
  std::vector<int> sizes_bytes;
  std::vector<int> offsets_bytes;
  std::vector<RoleEdge> edges;
};

// Whether all can take part and the root can hold all edges; makes room for them.
bool make_room(Collected& collected) {
  const std::vector<Header>& headers = collected.headers;
  std::int64_t total_bytes = 0;
  for (const Header& header : headers) {
    if (header.is_valid == 0 || header.fingerprint != headers.front().fingerprint) return false;
    const auto size_bytes = std::int64_t{header.num_edges} * std::int64_t{sizeof(RoleEdge)};
    if (total_bytes + size_bytes > std::numeric_limits<int>::max()) return false;
    collected.sizes_bytes.push_back(static_cast<int>(size_bytes));
    collected.offsets_bytes.push_back(static_cast<int>(total_bytes));
    total_bytes += size_bytes;
  }
  collected.edges.resize(static_cast<std::size_t>(total_bytes) / sizeof(RoleEdge));
  return true;
}

bool has_room(Collected& collected) noexcept try {
  return make_room(collected);
} catch (const std::exception&) {
  return false;
}

// Whatever happens on the root, the others wait for its roles.
void place(const ReorderState& state, std::span<const std::int32_t> host_of_process,
           std::span<const RoleEdge> edges, std::vector<std::int32_t>& roles) noexcept try {
  roles = place_roles(edges, state.plan.cost(), host_of_process).role_of_process;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fairlead: the ranks keep their order: %s\n", error.what());
}

bool is_one_host(std::span<const std::int32_t> hosts) {
  return std::all_of(hosts.begin(), hosts.end(), [&](auto host) { return host == hosts.front(); });
}

}  // namespace

int rank_in(MPI_Comm comm) {
  int rank = 0;
  require_success(mpi().Comm_rank(comm, &rank));
  return rank;
}

std::vector<std::int32_t> agree_on_roles(const ReorderState& state, MPI_Comm comm,
                                         std::span<const std::int32_t> host_of_process,
                                         const Contribution& contribution) {
  const bool is_root = rank_in(comm) == kRoot;
  std::vector<std::int32_t> roles(host_of_process.size());
  std::iota(roles.begin(), roles.end(), 0);
  Collected collected;
  if (is_root) collected.headers.resize(host_of_process.size());
  const Header own{contribution.is_valid ? 1 : 0, contribution.fingerprint,
                   static_cast<std::int32_t>(contribution.edges.size())};
  require_success(mpi().Gather(&own, sizeof own, byte_type(), collected.headers.data(), sizeof own,
                               byte_type(), kRoot, comm));
  std::int32_t is_agreed = is_root && has_room(collected) ? 1 : 0;
  require_success(mpi().Bcast(&is_agreed, sizeof is_agreed, byte_type(), kRoot, comm));
  if (is_agreed == 0) return {};
  if (is_one_host(host_of_process)) return roles;

  const auto size_bytes = static_cast<int>(contribution.edges.size() * sizeof(RoleEdge));
  require_success(mpi().Gatherv(contribution.edges.data(), size_bytes, byte_type(),
                                collected.edges.data(), collected.sizes_bytes.data(),
                                collected.offsets_bytes.data(), byte_type(), kRoot, comm));
  if (is_root) place(state, host_of_process, collected.edges, roles);
  const auto roles_bytes = static_cast<int>(roles.size() * sizeof roles.front());
  require_success(mpi().Bcast(roles.data(), roles_bytes, byte_type(), kRoot, comm));
  return roles;
}

ReorderedCommunicator::ReorderedCommunicator(MPI_Comm comm_old,
                                             std::span<const std::int32_t> role_of_process)
    : comm_(comm_null()), old_rank_(rank_in(comm_old)) {
  role_ = role_of_process[static_cast<std::size_t>(old_rank_)];
  require_success(mpi().Comm_split(comm_old, 0, role_, &comm_));
}

ReorderedCommunicator::~ReorderedCommunicator() {
  if (comm_ != comm_null()) mpi().Comm_free(&comm_);
}

std::vector<int> ReorderedCommunicator::exchanged(
    const std::vector<int>& arguments, std::span<const std::int32_t> role_of_process) const {
  // Here rank r is the holder of role r: it gets the arguments of old rank r.
  const int dest = old_rank_;
  const int source = role_of_process[static_cast<std::size_t>(role_)];
  const auto send_bytes = static_cast<int>(arguments.size() * sizeof(int));
  int receive_bytes = 0;
  require_success(mpi().Sendrecv(&send_bytes, sizeof send_bytes, byte_type(), dest, kTag,
                                 &receive_bytes, sizeof receive_bytes, byte_type(), source, kTag,
                                 comm_, MPI_STATUS_IGNORE));
  std::vector<int> received(static_cast<std::size_t>(receive_bytes) / sizeof(int));
  require_success(mpi().Sendrecv(arguments.data(), send_bytes, byte_type(), dest, kTag,
                                 received.data(), receive_bytes, byte_type(), source, kTag, comm_,
                                 MPI_STATUS_IGNORE));
  return received;
}

}  // namespace fairlead::intercept
