// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithm 2: hosts join the smallest group that is close enough; then sizes are balanced.
#include "collectives/cmpi/grouping.hpp"

#include <algorithm>
#include <cassert>

namespace fairlead::collectives {
namespace {

/// The larger level of both directions of two hosts: the least b for which they are b-close.
class Closeness {
 public:
  Closeness(std::span<const std::int32_t> level_of_pair, std::size_t num_hosts)
      : num_hosts_(num_hosts), least_boundary_(level_of_pair.begin(), level_of_pair.end()) {
    for (std::size_t host = 0; host < num_hosts; ++host) {
      for (std::size_t peer = 0; peer < host; ++peer) {
        const std::size_t there = host * num_hosts + peer;
        const std::size_t back = peer * num_hosts + host;
        least_boundary_[there] = least_boundary_[back] =
            std::max(level_of_pair[there], level_of_pair[back]);
      }
    }
  }

  [[nodiscard]] std::int32_t operator()(std::size_t host, std::size_t peer) const {
    return least_boundary_[host * num_hosts_ + peer];
  }

  [[nodiscard]] std::size_t num_hosts() const { return num_hosts_; }

  /// The boundaries at which another pair becomes close: those between them change nothing.
  [[nodiscard]] std::vector<std::int32_t> boundaries() const {
    std::vector<std::int32_t> found = least_boundary_;
    found.push_back(0);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  std::size_t num_hosts_;
  std::vector<std::int32_t> least_boundary_;
};

/// A group while hosts are added, with the least boundary for which each host is close to it.
struct OpenGroup {
  Members members;
  std::vector<std::int32_t> least_boundary;

  void add(std::size_t host, const Closeness& closeness) {
    members.push_back(host);
    for (std::size_t peer = 0; peer < least_boundary.size(); ++peer) {
      least_boundary[peer] = std::max(least_boundary[peer], closeness(host, peer));
    }
  }
};

/// Lines 4 to 8 of the algorithm; nothing as soon as there are more than half as many groups.
std::vector<Members> grouped_within(std::int32_t boundary, const std::vector<Members>& below,
                                    const Closeness& closeness) {
  std::vector<OpenGroup> groups;
  for (const Members& earlier : below) {
    for (const std::size_t host : earlier) {
      OpenGroup* smallest = nullptr;
      for (OpenGroup& group : groups) {
        if (group.least_boundary[host] > boundary) continue;
        if (smallest == nullptr || group.members.size() < smallest->members.size()) {
          smallest = &group;
        }
      }
      if (smallest == nullptr) {
        if (2 * (groups.size() + 1) > below.size()) return {};
        groups.push_back({{}, std::vector<std::int32_t>(closeness.num_hosts(), 0)});
        smallest = &groups.back();
      }
      smallest->add(host, closeness);
    }
  }
  std::vector<Members> found;
  for (OpenGroup& group : groups) found.push_back(std::move(group.members));
  return found;
}

/// The host of `from` that may join `into` within the least boundary.
Members::iterator closest(Members& from, const Members& into, const Closeness& closeness) {
  const auto least_boundary = [&](std::size_t host) {
    std::int32_t boundary = 0;
    for (const std::size_t member : into) boundary = std::max(boundary, closeness(host, member));
    return boundary;
  };
  return std::min_element(from.begin(), from.end(), [&](std::size_t left, std::size_t right) {
    const std::int32_t of_left = least_boundary(left), of_right = least_boundary(right);
    return of_left != of_right ? of_left < of_right : left < right;
  });
}

/// Lines 10 and 11. Groups that differ by one host stay, whatever the limit.
void balance(std::vector<Members>& groups, std::int32_t max_span, const Closeness& closeness) {
  const auto is_smaller = [](const Members& left, const Members& right) {
    return left.size() < right.size();
  };
  const auto limit = static_cast<std::size_t>(std::max(max_span, 1));
  while (true) {
    const auto smallest = std::min_element(groups.begin(), groups.end(), is_smaller);
    const auto largest = std::max_element(groups.begin(), groups.end(), is_smaller);
    if (largest->size() - smallest->size() <= limit) return;
    const auto moved = closest(*largest, *smallest, closeness);
    smallest->push_back(*moved);
    largest->erase(moved);
  }
}

}  // namespace

std::vector<Members> group_hosts(std::span<const std::int32_t> level_of_pair,
                                 const std::vector<Members>& below, std::int32_t max_span) {
  std::size_t num_hosts = 0;
  for (const Members& group : below) num_hosts += group.size();
  assert(below.size() > 1 && level_of_pair.size() == num_hosts * num_hosts);
  const Closeness closeness(level_of_pair, num_hosts);
  std::vector<Members> groups;
  // At the last boundary all hosts are close, so one group is left.
  for (const std::int32_t boundary : closeness.boundaries()) {
    groups = grouped_within(boundary, below, closeness);
    if (!groups.empty()) break;
  }
  balance(groups, max_span, closeness);
  for (Members& group : groups) std::sort(group.begin(), group.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}

}  // namespace fairlead::collectives
