// SPDX-License-Identifier: Apache-2.0
// Subtrees of CMPI's hierarchy: built from its levels, split and combined.
#include "collectives/cmpi/subtrees.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace fairlead::collectives {
namespace {

using Hosts = std::vector<std::int32_t>;

bool is_smaller(const Subtree& left, const Subtree& right) {
  return left.hosts.size() < right.hosts.size();
}

/// Hosts by their groups on a level; level 0 is single hosts. By ascending first hosts.
std::vector<Hosts> parted(const Hierarchy& hierarchy, const Hosts& hosts, std::size_t level) {
  std::vector<Hosts> parts;
  std::map<std::int32_t, std::size_t> part_of_group;
  for (const std::int32_t host : hosts) {
    const std::int32_t group =
        level == 0 ? host : hierarchy.group_of_host[level - 1][static_cast<std::size_t>(host)];
    const auto [entry, is_new] = part_of_group.try_emplace(group, parts.size());
    if (is_new) parts.emplace_back();
    parts[entry->second].push_back(host);
  }
  return parts;
}

/// Hosts of one group of a level, by the groups of the levels below.
Subtree subtree_of(const Hierarchy& hierarchy, Hosts hosts, std::size_t level) {
  if (hosts.size() == 1) return {std::move(hosts), {}};
  std::vector<Hosts> parts = parted(hierarchy, hosts, level - 1);
  if (parts.size() == 1) return subtree_of(hierarchy, std::move(hosts), level - 1);
  Subtree made{std::move(hosts), {}};
  for (Hosts& part : parts) {
    made.children.push_back(subtree_of(hierarchy, std::move(part), level - 1));
  }
  return made;
}

Subtree combined(std::vector<Subtree> children) {
  Subtree made;
  for (const Subtree& child : children) {
    made.hosts.insert(made.hosts.end(), child.hosts.begin(), child.hosts.end());
  }
  std::sort(made.hosts.begin(), made.hosts.end());
  made.children = std::move(children);
  return made;
}

/// The new subtree takes the place of the first of the two.
void combine_two_smallest(std::vector<Subtree>& subtrees) {
  auto first = std::min_element(subtrees.begin(), subtrees.end(), is_smaller);
  Subtree smallest = std::move(*first);
  const auto place = std::distance(subtrees.begin(), first);
  subtrees.erase(first);
  const auto second = std::min_element(subtrees.begin(), subtrees.end(), is_smaller);
  const auto other_place = std::distance(subtrees.begin(), second);
  std::vector<Subtree> both;
  both.push_back(std::move(smallest));
  both.push_back(std::move(*second));
  if (other_place < place) std::swap(both[0], both[1]);
  subtrees.erase(second);
  subtrees.insert(subtrees.begin() + std::min(place, other_place), combined(std::move(both)));
}

/// Removes the subtree's root; more than two that are left are combined.
void split(std::vector<Subtree>& subtrees, std::vector<Subtree>::iterator old) {
  std::vector<Subtree> forest = std::move(old->children);
  while (forest.size() > 2) combine_two_smallest(forest);
  const auto place = subtrees.erase(old);
  subtrees.insert(place, std::make_move_iterator(forest.begin()),
                  std::make_move_iterator(forest.end()));
}

}  // namespace

Subtree tree_seen_from(const Hierarchy& hierarchy, std::int32_t num_hosts, std::int32_t root) {
  std::vector<Hosts> at_distance(hierarchy.group_of_host.size() + 1);
  for (std::int32_t host = 0; host < num_hosts; ++host) {
    at_distance[static_cast<std::size_t>(distance(hierarchy, root, host))].push_back(host);
  }
  Subtree tree{{root}, {}};
  for (std::size_t level = 1; level < at_distance.size(); ++level) {
    if (at_distance[level].empty()) continue;
    std::vector<Subtree> children;
    children.push_back(std::move(tree));
    for (Hosts& hosts : parted(hierarchy, at_distance[level], level - 1)) {
      children.push_back(subtree_of(hierarchy, std::move(hosts), level - 1));
    }
    tree = combined(std::move(children));
  }
  return tree;
}

void adjust(std::vector<Subtree>& subtrees, std::size_t num_wanted) {
  while (subtrees.size() > num_wanted) combine_two_smallest(subtrees);
  while (subtrees.size() < num_wanted) {
    // The last of the largest.
    const auto from_last = std::max_element(subtrees.rbegin(), subtrees.rend(), is_smaller);
    if (from_last == subtrees.rend() || from_last->children.empty()) return;
    split(subtrees, std::prev(from_last.base()));
  }
}

}  // namespace fairlead::collectives
