// SPDX-License-Identifier: Apache-2.0
// The roles are tasks, the processes of a host its slots, and `optimize` finds the placement.
#include "fairlead/mapping/place_roles.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "fairlead/mapping/optimize.hpp"
#include "fairlead/mapping/placement_cost.hpp"

namespace fairlead {
namespace {

using Indices = std::vector<std::int64_t>;

// More proposals gain little; `optimize` has as many per task by default.
constexpr std::int64_t kProposalsPerRole = 60'000;
// Up to here the caches hold most of the table of roles times hosts; beyond, a proposal takes
// longer and there are fewer of them, down to this part.
constexpr std::size_t kEntriesInCaches = std::size_t{1} << 19;
constexpr std::int64_t kLeastPart = 4;

/// The edges in compressed rows. Those of a role to itself are left out: they stay inside a process
/// wherever it runs.
class RoleTraffic {
 public:
  RoleTraffic(std::span<const RoleEdge> edges, std::size_t num_roles)
      : row_start_(num_roles + 1, 0) {
    for (const RoleEdge& edge : edges) {
      if (counts(edge)) ++row_start_[static_cast<std::size_t>(edge.src) + 1];
    }
    std::partial_sum(row_start_.begin(), row_start_.end(), row_start_.begin());
    column_.resize(static_cast<std::size_t>(row_start_.back()));
    value_.resize(column_.size());
    Indices next = row_start_;
    for (const RoleEdge& edge : edges) {
      if (!counts(edge)) continue;
      const auto entry = static_cast<std::size_t>(next[static_cast<std::size_t>(edge.src)]++);
      column_[entry] = edge.dst;
      value_[entry] = edge.weight;
    }
  }

  [[nodiscard]] RankMatrix matrix() const {
    return {.row_start = row_start_, .column = column_, .value = value_};
  }

 private:
  static bool counts(const RoleEdge& edge) { return edge.src != edge.dst && edge.weight > 0; }

  Indices row_start_;
  Indices column_;
  std::vector<double> value_;
};

/// The hosts that run a process, numbered anew: a communicator may have few of a plan's hosts.
struct UsedHosts {
  Indices host_of_process;
  Indices num_processes;  // on each host
  std::vector<double> costs;

  UsedHosts(const HostMatrix& cost, std::span<const std::int32_t> hosts) {
    Indices number_of_host(cost.num_hosts, -1);
    std::vector<std::size_t> used;
    for (const std::int32_t host : hosts) number_of_host[static_cast<std::size_t>(host)] = 0;
    for (std::size_t host = 0; host < cost.num_hosts; ++host) {
      if (number_of_host[host] < 0) continue;
      number_of_host[host] = static_cast<std::int64_t>(used.size());
      used.push_back(host);
    }
    num_processes.assign(used.size(), 0);
    for (const std::int32_t host : hosts) {
      host_of_process.push_back(number_of_host[static_cast<std::size_t>(host)]);
      ++num_processes[static_cast<std::size_t>(host_of_process.back())];
    }
    for (const std::size_t src : used) {
      for (const std::size_t dst : used) costs.push_back(cost(src, dst));
    }
  }

  [[nodiscard]] HostMatrix cost() const {
    return {.num_hosts = num_processes.size(), .values = costs};
  }
};

/// A process keeps its role if its host keeps it; the others take the remaining roles in order.
std::vector<std::int32_t> roles_of_processes(const Indices& host_of_role, const UsedHosts& hosts) {
  const std::size_t num_processes = host_of_role.size();
  std::vector<std::int32_t> role_of_process(num_processes, -1);
  std::vector<std::vector<std::size_t>> processes_on_host(hosts.num_processes.size());
  for (std::size_t process = 0; process < num_processes; ++process) {
    const std::int64_t host = hosts.host_of_process[process];
    if (host_of_role[process] == host) {
      role_of_process[process] = static_cast<std::int32_t>(process);
    } else {
      processes_on_host[static_cast<std::size_t>(host)].push_back(process);
    }
  }
  std::vector<std::size_t> next(processes_on_host.size(), 0);
  for (std::size_t role = 0; role < num_processes; ++role) {
    if (role_of_process[role] == static_cast<std::int32_t>(role)) continue;
    const auto host = static_cast<std::size_t>(host_of_role[role]);
    role_of_process[processes_on_host[host][next[host]++]] = static_cast<std::int32_t>(role);
  }
  return role_of_process;
}

std::int64_t proposals_for(std::size_t num_roles, std::size_t num_hosts,
                           std::int64_t max_proposals) {
  const auto wanted = kProposalsPerRole * static_cast<std::int64_t>(num_roles);
  const auto times_caches = static_cast<std::int64_t>(num_roles * num_hosts / kEntriesInCaches);
  const auto most = max_proposals / std::clamp<std::int64_t>(times_caches, 1, kLeastPart);
  return std::max<std::int64_t>(std::min(wanted, most), 1);
}

std::vector<std::int32_t> identity(std::size_t num_processes) {
  std::vector<std::int32_t> roles(num_processes);
  std::iota(roles.begin(), roles.end(), 0);
  return roles;
}

}  // namespace

bool RolePlacement::is_identity() const {
  return role_of_process == identity(role_of_process.size());
}

RolePlacement place_roles(std::span<const RoleEdge> edges, const HostMatrix& cost,
                          std::span<const std::int32_t> host_of_process,
                          const RoleOptions& options) {
  const std::size_t num_roles = host_of_process.size();
  const RoleTraffic traffic(edges, num_roles);
  const UsedHosts hosts(cost, host_of_process);
  const double identity_cost = weighted_sum(traffic.matrix(), hosts.cost(), hosts.host_of_process);
  RolePlacement kept{identity(num_roles), identity_cost, identity_cost};
  const std::size_t num_hosts = hosts.num_processes.size();
  if (identity_cost == 0.0 || num_roles * num_hosts > options.max_entries) return kept;

  const std::vector<Indices> starts{hosts.host_of_process};
  OptimizeOptions search_options;
  search_options.seed = options.seed;
  search_options.num_proposals = proposals_for(num_roles, num_hosts, options.max_proposals);
  search_options.starts = starts;
  const Indices host_of_role =
      optimize_sum(traffic.matrix(), hosts.cost(), hosts.num_processes, search_options);
  const double found_cost = weighted_sum(traffic.matrix(), hosts.cost(), host_of_role);
  if (!(found_cost < (1.0 - options.min_gain_ratio) * identity_cost)) return kept;
  return {roles_of_processes(host_of_role, hosts), found_cost, identity_cost};
}

}  // namespace fairlead
