// SPDX-License-Identifier: Apache-2.0
// A tree in which the leader of each group of near hosts is the parent of the group.
#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "collectives/methods/methods.hpp"
#include "collectives/trees/merged_groups.hpp"

namespace fairlead::collectives {
namespace {

/// Time of a host to and from all others of the group.
double both_ways_s(const GroupsOfHosts& groups, std::size_t num_hosts, const Group& members,
                   std::int32_t host) {
  const auto own = static_cast<std::size_t>(host);
  double total_s = 0.0;
  for (const std::int32_t other : members) {
    const auto peer = static_cast<std::size_t>(other);
    total_s +=
        groups.transfer_s[own * num_hosts + peer] + groups.transfer_s[peer * num_hosts + own];
  }
  return total_s;
}

/// The root, or the host with the least sum.
std::int32_t leader_of(const GroupsOfHosts& groups, std::size_t num_hosts, std::int32_t root,
                       const Group& members) {
  if (std::find(members.begin(), members.end(), root) != members.end()) return root;
  return *std::min_element(members.begin(), members.end(),
                           [&](std::int32_t left, std::int32_t right) {
                             return both_ways_s(groups, num_hosts, members, left) <
                                    both_ways_s(groups, num_hosts, members, right);
                           });
}

}  // namespace

Schedule plan_leader_tree(const Problem& problem) {
  const std::size_t num_hosts = problem.links.num_hosts();
  const GroupsOfHosts groups =
      merge_near_hosts(problem.links, largest_block_bytes(problem.request));
  ParentOfHost parent_of_host(num_hosts, kNoHost);
  Group leaders(num_hosts);
  for (std::size_t host = 0; host < num_hosts; ++host) {
    leaders[host] = static_cast<std::int32_t>(host);
  }
  for (const auto& group_of_host : groups.group_of_host) {
    std::map<std::int32_t, Group> members_of_group;
    for (const std::int32_t host : leaders) {
      members_of_group[group_of_host[static_cast<std::size_t>(host)]].push_back(host);
    }
    leaders.clear();
    for (const auto& [number, members] : members_of_group) {
      const std::int32_t leader = leader_of(groups, num_hosts, problem.request.root, members);
      leaders.push_back(leader);
      for (const std::int32_t host : members) {
        if (host != leader) parent_of_host[static_cast<std::size_t>(host)] = leader;
      }
    }
  }
  Schedule schedule = begun(problem, Form::split_tree);
  schedule.trees = {std::move(parent_of_host)};
  Schedule best;
  keep_faster(problem, std::move(schedule), best);
  return best;
}

}  // namespace fairlead::collectives
