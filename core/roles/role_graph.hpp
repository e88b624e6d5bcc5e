// SPDX-License-Identifier: Apache-2.0
// A communication graph in compressed rows: for each role all partners, with both directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"
#include "fairlead/place_roles.hpp"

namespace fairlead {

using Index = std::int32_t;
/// Host of each role.
using HostOfRole = std::vector<Index>;

/// What a role exchanges with one other role.
struct Partner {
  Index role;
  double out_weight;  ///< sent to the partner
  double in_weight;   ///< received from it
};

/// Edges of a role to itself are left out: they stay inside a process wherever it runs.
class RoleGraph {
 public:
  RoleGraph(std::span<const RoleEdge> edges, std::size_t num_roles);

  [[nodiscard]] std::size_t num_roles() const { return row_start_.size() - 1; }
  [[nodiscard]] std::span<const Partner> partners(std::size_t role) const {
    return std::span(partners_).subspan(row_start_[role], row_start_[role + 1] - row_start_[role]);
  }

 private:
  std::vector<std::size_t> row_start_;
  std::vector<Partner> partners_;
};

/// Cost between a role on `host` and one partner on `other`.
[[nodiscard]] inline double cost_between(const Partner& partner, const HostMatrix& cost, Index host,
                                         Index other) {
  const auto h = static_cast<std::size_t>(host);
  const auto o = static_cast<std::size_t>(other);
  return partner.out_weight * cost(h, o) + partner.in_weight * cost(o, h);
}

/// Sum over all edges; each counts once.
[[nodiscard]] double total_cost(const RoleGraph& graph, const HostMatrix& cost,
                                const HostOfRole& host_of_role);

}  // namespace fairlead
