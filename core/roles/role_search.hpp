// SPDX-License-Identifier: Apache-2.0
// Local search: two roles on different hosts change places as long as that saves something.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "role_graph.hpp"

namespace fairlead {

class RoleSearch {
 public:
  /// @param host_of_role  the placement to begin with
  /// @param max_visits  bound on the neighbours looked at, over all calls
  RoleSearch(const RoleGraph& graph, const HostMatrix& cost, std::uint64_t max_visits);

  /// Exchanges pairs of roles until none saves anything or the work is used up. The cost falls.
  void improve(HostOfRole& host_of_role);

  /// Exchanges some pairs at random, so that `improve` can leave a local minimum.
  void shake(HostOfRole& host_of_role, std::mt19937_64& random) const;

  [[nodiscard]] bool has_work_left() const { return num_visits_ < max_visits_; }

 private:
  struct Exchange {
    Index role;
    double gain;
  };

  bool improve_role(Index role, HostOfRole& host_of_role);
  [[nodiscard]] Exchange best_exchange(Index role, Index target, const HostOfRole& host_of_role);
  [[nodiscard]] double gain_of(Index role, Index other, const HostOfRole& host_of_role);
  [[nodiscard]] double cost_on(Index role, Index host, const HostOfRole& host_of_role);
  void list_roles(const HostOfRole& host_of_role);
  void exchange(Index role, Index other, HostOfRole& host_of_role);

  const RoleGraph& graph_;
  const HostMatrix& cost_;
  std::uint64_t max_visits_;
  std::uint64_t num_visits_ = 0;
  std::vector<std::vector<Index>> roles_on_host_;
  std::vector<Index> targets_;  // reused between calls
  std::vector<double> cost_on_target_;
};

}  // namespace fairlead
