// SPDX-License-Identifier: Apache-2.0
// Builds the graph: both directions of a pair meet in one entry at each end.
#include "role_graph.hpp"

#include <algorithm>
#include <tuple>

namespace fairlead {
namespace {

struct Half {
  Index role;
  Partner partner;
};

bool is_before(const Half& a, const Half& b) {
  return std::tie(a.role, a.partner.role) < std::tie(b.role, b.partner.role);
}

}  // namespace

RoleGraph::RoleGraph(std::span<const RoleEdge> edges, std::size_t num_roles)
    : row_start_(num_roles + 1, 0) {
  std::vector<Half> halves;
  halves.reserve(2 * edges.size());
  for (const RoleEdge& edge : edges) {
    if (edge.src == edge.dst || edge.weight == 0) continue;
    const auto weight = static_cast<double>(edge.weight);
    halves.push_back({edge.src, {edge.dst, weight, 0.0}});
    halves.push_back({edge.dst, {edge.src, 0.0, weight}});
  }
  // Sums of whole numbers are exact, so the order of equal keys does not show in the result.
  std::sort(halves.begin(), halves.end(), is_before);
  for (const Half& half : halves) {
    const auto row_end = static_cast<std::size_t>(half.role) + 1;
    const bool is_known = row_start_[row_end] > 0 && partners_.back().role == half.partner.role;
    if (is_known) {
      partners_.back().out_weight += half.partner.out_weight;
      partners_.back().in_weight += half.partner.in_weight;
    } else {
      partners_.push_back(half.partner);
      ++row_start_[row_end];
    }
  }
  for (std::size_t role = 0; role < num_roles; ++role) row_start_[role + 1] += row_start_[role];
}

double total_cost(const RoleGraph& graph, const HostMatrix& cost, const HostOfRole& host_of_role) {
  double sum = 0.0;
  for (std::size_t role = 0; role < graph.num_roles(); ++role) {
    for (const Partner& partner : graph.partners(role)) {
      const auto host = static_cast<std::size_t>(host_of_role[role]);
      const auto other =
          static_cast<std::size_t>(host_of_role[static_cast<std::size_t>(partner.role)]);
      sum += partner.out_weight * cost(host, other);
    }
  }
  return sum;
}

}  // namespace fairlead
