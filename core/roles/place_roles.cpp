// SPDX-License-Identifier: Apache-2.0
// Begins with the roles as they are and with a grown placement, improves both, keeps the best.
#include "fairlead/place_roles.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "role_graph.hpp"
#include "role_growth.hpp"
#include "role_search.hpp"

namespace fairlead {
namespace {

// Shaken this often in a row without a better placement, the search ends.
constexpr int kPatience = 40;

struct Candidate {
  HostOfRole host_of_role;
  double cost;
};

std::vector<Index> slots_of(std::span<const std::int32_t> host_of_process, std::size_t num_hosts) {
  std::vector<Index> num_slots(num_hosts, 0);
  for (const std::int32_t host : host_of_process) ++num_slots[static_cast<std::size_t>(host)];
  return num_slots;
}

Candidate improved(HostOfRole host_of_role, const RoleGraph& graph, const HostMatrix& cost,
                   RoleSearch& search) {
  search.improve(host_of_role);
  const double sum = total_cost(graph, cost, host_of_role);
  return {std::move(host_of_role), sum};
}

Candidate best_of(Candidate best, const RoleGraph& graph, const HostMatrix& cost,
                  RoleSearch& search, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int failures = 0; failures < kPatience && best.cost > 0 && search.has_work_left();) {
    HostOfRole shaken = best.host_of_role;
    search.shake(shaken, random);
    Candidate next = improved(std::move(shaken), graph, cost, search);
    failures = next.cost < best.cost ? 0 : failures + 1;
    if (next.cost < best.cost) best = std::move(next);
  }
  return best;
}

// A process keeps its role where its host does; the others take what is left, in order.
std::vector<std::int32_t> seats(const HostOfRole& host_of_role,
                                std::span<const std::int32_t> host_of_process,
                                std::size_t num_hosts) {
  const std::size_t num_processes = host_of_process.size();
  std::vector<std::int32_t> role_of_process(num_processes, -1);
  std::vector<std::vector<std::int32_t>> processes_on_host(num_hosts);
  for (std::size_t process = 0; process < num_processes; ++process) {
    if (host_of_role[process] == host_of_process[process]) {
      role_of_process[process] = static_cast<std::int32_t>(process);
    } else {
      const auto host = static_cast<std::size_t>(host_of_process[process]);
      processes_on_host[host].push_back(static_cast<std::int32_t>(process));
    }
  }
  std::vector<std::size_t> next(num_hosts, 0);
  for (std::size_t role = 0; role < num_processes; ++role) {
    if (role_of_process[role] == static_cast<std::int32_t>(role)) continue;
    const auto host = static_cast<std::size_t>(host_of_role[role]);
    const std::int32_t process = processes_on_host[host][next[host]++];
    role_of_process[static_cast<std::size_t>(process)] = static_cast<std::int32_t>(role);
  }
  return role_of_process;
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
  const RoleGraph graph(edges, host_of_process.size());
  const HostOfRole as_they_are(host_of_process.begin(), host_of_process.end());
  const double identity_cost = total_cost(graph, cost, as_they_are);
  RolePlacement kept{identity(host_of_process.size()), identity_cost, identity_cost};
  if (identity_cost == 0.0) return kept;

  RoleSearch search(graph, cost, options.max_visits);
  const std::vector<Index> num_slots = slots_of(host_of_process, cost.num_hosts);
  Candidate best = improved(grow_roles(graph, cost, num_slots), graph, cost, search);
  Candidate near = improved(as_they_are, graph, cost, search);
  if (near.cost <= best.cost) best = std::move(near);
  best = best_of(std::move(best), graph, cost, search, options.seed);

  if (!(best.cost < (1.0 - options.min_gain_ratio) * identity_cost)) return kept;
  return {seats(best.host_of_role, host_of_process, cost.num_hosts), best.cost, identity_cost};
}

}  // namespace fairlead
