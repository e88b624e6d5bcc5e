// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange with gains that need only the partners of the two roles.
#include "role_search.hpp"

#include <algorithm>
#include <utility>

namespace fairlead {
namespace {

// Of the hosts a role would rather be on, this many of the best are tried.
constexpr std::size_t kMaxTargets = 6;
// Smaller gains are rounding, and could go round in circles.
constexpr double kLeastGain_ratio = 1e-9;

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

RoleSearch::RoleSearch(const RoleGraph& graph, const HostMatrix& cost, std::uint64_t max_visits)
    : graph_(graph), cost_(cost), max_visits_(max_visits), roles_on_host_(cost.num_hosts) {}

void RoleSearch::improve(HostOfRole& host_of_role) {
  list_roles(host_of_role);
  bool is_better = true;
  while (is_better && has_work_left()) {
    is_better = false;
    for (Index role = 0; role < static_cast<Index>(graph_.num_roles()); ++role) {
      is_better = improve_role(role, host_of_role) || is_better;
    }
  }
}

void RoleSearch::shake(HostOfRole& host_of_role, std::mt19937_64& random) const {
  // Not std::uniform_int_distribution: its numbers differ between standard libraries.
  const auto any_role = [&] { return static_cast<std::size_t>(random() % graph_.num_roles()); };
  const std::size_t num_exchanges = 2 + graph_.num_roles() / 32;
  for (std::size_t i = 0; i < num_exchanges; ++i) {
    const std::size_t role = any_role();
    const std::size_t other = any_role();
    std::swap(host_of_role[role], host_of_role[other]);
  }
}

bool RoleSearch::improve_role(Index role, HostOfRole& host_of_role) {
  if (graph_.partners(at(role)).empty() || !has_work_left()) return false;
  const double here = cost_on(role, host_of_role[at(role)], host_of_role);
  cost_on_target_.assign(cost_.num_hosts, 0.0);
  targets_.clear();
  for (Index host = 0; host < static_cast<Index>(cost_.num_hosts); ++host) {
    if (roles_on_host_[at(host)].empty() || host == host_of_role[at(role)]) continue;
    cost_on_target_[at(host)] = cost_on(role, host, host_of_role);
    if (cost_on_target_[at(host)] < here) targets_.push_back(host);
  }
  std::stable_sort(targets_.begin(), targets_.end(), [this](Index a, Index b) {
    return cost_on_target_[at(a)] < cost_on_target_[at(b)];
  });
  if (targets_.size() > kMaxTargets) targets_.resize(kMaxTargets);
  Exchange best{-1, kLeastGain_ratio * here};
  for (const Index target : targets_) {
    const Exchange candidate = best_exchange(role, target, host_of_role);
    if (candidate.gain > best.gain) best = candidate;
  }
  if (best.role < 0) return false;
  exchange(role, best.role, host_of_role);
  return true;
}

RoleSearch::Exchange RoleSearch::best_exchange(Index role, Index target,
                                               const HostOfRole& host_of_role) {
  Exchange best{-1, 0.0};
  for (const Index other : roles_on_host_[at(target)]) {
    const double gain = gain_of(role, other, host_of_role);
    if (gain > best.gain) best = {other, gain};
  }
  return best;
}

double RoleSearch::gain_of(Index role, Index other, const HostOfRole& host_of_role) {
  const Index host = host_of_role[at(role)];
  const Index target = host_of_role[at(other)];
  double gain = cost_on(role, host, host_of_role) - cost_on(role, target, host_of_role) +
                cost_on(other, target, host_of_role) - cost_on(other, host, host_of_role);
  // Each sum took the other role for staying where it is; between the two that was wrong.
  for (const Partner& partner : graph_.partners(at(role))) {
    if (partner.role != other) continue;
    gain += cost_between(partner, cost_, host, host) + cost_between(partner, cost_, target, target);
    gain -= cost_between(partner, cost_, host, target) + cost_between(partner, cost_, target, host);
  }
  return gain;
}

double RoleSearch::cost_on(Index role, Index host, const HostOfRole& host_of_role) {
  const auto partners = graph_.partners(at(role));
  num_visits_ += partners.size() + 1;
  double sum = 0.0;
  for (const Partner& partner : partners) {
    sum += cost_between(partner, cost_, host, host_of_role[at(partner.role)]);
  }
  return sum;
}

void RoleSearch::list_roles(const HostOfRole& host_of_role) {
  for (auto& roles : roles_on_host_) roles.clear();
  for (std::size_t role = 0; role < host_of_role.size(); ++role) {
    roles_on_host_[at(host_of_role[role])].push_back(static_cast<Index>(role));
  }
}

void RoleSearch::exchange(Index role, Index other, HostOfRole& host_of_role) {
  auto& here = roles_on_host_[at(host_of_role[at(role)])];
  auto& there = roles_on_host_[at(host_of_role[at(other)])];
  *std::find(here.begin(), here.end(), role) = other;
  *std::find(there.begin(), there.end(), other) = role;
  std::swap(host_of_role[at(role)], host_of_role[at(other)]);
}

}  // namespace fairlead
