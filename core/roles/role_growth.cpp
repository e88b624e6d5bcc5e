// SPDX-License-Identifier: Apache-2.0
// Greedy growth; every tie is broken by the lower number, so the result is one.
#include "role_growth.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace fairlead {
namespace {

constexpr Index kNone = -1;

// Hosts in the order in which they are filled.
std::vector<Index> order_of_hosts(const HostMatrix& cost, const std::vector<Index>& num_slots) {
  const std::size_t num_hosts = cost.num_hosts;
  std::vector<double> distance(num_hosts, 0.0);  // to all hosts at first, then to those in order
  for (std::size_t host = 0; host < num_hosts; ++host) {
    for (std::size_t other = 0; other < num_hosts; ++other) {
      if (num_slots[other] > 0) distance[host] += cost(host, other) + cost(other, host);
    }
  }
  std::vector<Index> order;
  std::vector<bool> is_used(num_hosts, false);
  for (;;) {
    std::size_t nearest = num_hosts;
    for (std::size_t host = 0; host < num_hosts; ++host) {
      if (is_used[host] || num_slots[host] == 0) continue;
      if (nearest == num_hosts || distance[host] < distance[nearest]) nearest = host;
    }
    if (nearest == num_hosts) return order;
    if (order.empty()) std::fill(distance.begin(), distance.end(), 0.0);
    is_used[nearest] = true;
    order.push_back(static_cast<Index>(nearest));
    for (std::size_t host = 0; host < num_hosts; ++host) {
      distance[host] += cost(host, nearest) + cost(nearest, host);
    }
  }
}

class Growth {
 public:
  Growth(const RoleGraph& graph, const HostMatrix& cost, const std::vector<Index>& num_slots)
      : graph_(graph),
        cost_(cost),
        num_slots_(num_slots),
        host_of_role_(graph.num_roles(), kNone),
        to_host_(graph.num_roles(), 0.0),
        to_all_(graph.num_roles(), 0.0) {}

  HostOfRole run() {
    for (const Index host : order_of_hosts(cost_, num_slots_)) fill(host);
    return host_of_role_;
  }

 private:
  void fill(Index host) {
    for (const Index role : frontier_) to_host_[at(role)] = 0.0;
    frontier_.clear();
    for (Index slot = 0; slot < num_slots_[at(host)]; ++slot) {
      const Index chosen = best_of_frontier();
      put(chosen == kNone ? best_of_all() : chosen, host);
    }
  }

  void put(Index role, Index host) {
    host_of_role_[at(role)] = host;
    for (const Partner& partner : graph_.partners(at(role))) {
      if (host_of_role_[at(partner.role)] != kNone) continue;
      if (to_host_[at(partner.role)] == 0.0) frontier_.push_back(partner.role);
      to_host_[at(partner.role)] += partner.out_weight + partner.in_weight;
      to_all_[at(partner.role)] += partner.out_weight + partner.in_weight;
    }
  }

  // Larger is better: what a role exchanges here, then with all placed roles; then few partners, so
  // that growth begins at a corner; then the lower number.
  auto rank_of(Index role) const {
    const auto num_partners = static_cast<Index>(graph_.partners(at(role)).size());
    return std::tuple(to_host_[at(role)], to_all_[at(role)], num_partners > 0, -num_partners,
                      -role);
  }

  Index best_of_frontier() {
    std::erase_if(frontier_, [this](Index role) { return host_of_role_[at(role)] != kNone; });
    Index best = kNone;
    for (const Index role : frontier_) {
      if (best == kNone || rank_of(role) > rank_of(best)) best = role;
    }
    return best;
  }

  Index best_of_all() const {
    Index best = kNone;
    for (Index role = 0; role < static_cast<Index>(host_of_role_.size()); ++role) {
      if (host_of_role_[at(role)] != kNone) continue;
      if (best == kNone || rank_of(role) > rank_of(best)) best = role;
    }
    return best;
  }

  static std::size_t at(Index index) { return static_cast<std::size_t>(index); }

  const RoleGraph& graph_;
  const HostMatrix& cost_;
  const std::vector<Index>& num_slots_;
  HostOfRole host_of_role_;
  std::vector<double> to_host_;  // exchanged with roles on the host being filled
  std::vector<double> to_all_;   // exchanged with all placed roles
  std::vector<Index> frontier_;  // roles with `to_host_` > 0
};

}  // namespace

HostOfRole grow_roles(const RoleGraph& graph, const HostMatrix& cost,
                      const std::vector<Index>& num_slots) {
  return Growth(graph, cost, num_slots).run();
}

}  // namespace fairlead
