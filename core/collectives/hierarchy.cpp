// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithms 1 and 2: groups of close hosts, then groups of close groups, until one is left.
#include "fairlead/collectives/hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include "collectives/links.hpp"
#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

constexpr double kRounding = 1e-9;

using Members = std::vector<std::size_t>;

/// What a shared group leaves each host that sends through it while all of them do, over the pairs.
std::vector<double> busy_bandwidth_Bps(const Links& links) {
  const std::size_t num_hosts = links.num_hosts();
  std::vector<std::vector<char>> is_src(links.num_groups(), std::vector<char>(num_hosts, 0));
  std::vector<double> bandwidth_Bps(num_hosts * num_hosts, 0.0);
  const auto for_each_pair = [num_hosts](auto&& visit) {
    for (std::size_t src = 0; src < num_hosts; ++src) {
      for (std::size_t dst = 0; dst < num_hosts; ++dst) {
        if (src != dst) visit(src, dst);
      }
    }
  };
  for_each_pair([&](std::size_t src, std::size_t dst) {
    for (const std::int32_t group : links.groups(src, dst)) {
      is_src[static_cast<std::size_t>(group)][src] = 1;
    }
  });
  std::vector<double> share_Bps;
  for (std::size_t group = 0; group < links.num_groups(); ++group) {
    const auto num_src = std::count(is_src[group].begin(), is_src[group].end(), 1);
    share_Bps.push_back(links.group_Bps(group) / static_cast<double>(std::max<long>(num_src, 1)));
  }
  for_each_pair([&](std::size_t src, std::size_t dst) {
    double& pair_Bps = bandwidth_Bps[src * num_hosts + dst];
    pair_Bps = links.bandwidth_Bps(src, dst);
    for (const std::int32_t group : links.groups(src, dst)) {
      pair_Bps = std::min(pair_Bps, share_Bps[static_cast<std::size_t>(group)]);
    }
  });
  return bandwidth_Bps;
}

/// The levels of all pairs between two groups, both directions: closeness is the largest.
struct Range {
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  std::int32_t most = 0;

  void include(const Range& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

class Grouping {
 public:
  Grouping(const std::vector<std::int32_t>& level_of_pair, std::size_t num_hosts,
           std::int32_t max_span)
      : max_span_(max_span), between_(num_hosts, std::vector<Range>(num_hosts)) {
    for (std::size_t host = 0; host < num_hosts; ++host) {
      groups_.push_back({host});
      for (std::size_t peer = 0; peer < num_hosts; ++peer) {
        if (peer == host) continue;
        const std::int32_t there = level_of_pair[host * num_hosts + peer];
        const std::int32_t back = level_of_pair[peer * num_hosts + host];
        between_[host][peer] = {std::min(there, back), std::max(there, back)};
      }
    }
  }

  [[nodiscard]] const std::vector<Members>& groups() const { return groups_; }

  /// Algorithm 2: merges groups within the boundary, the smallest that qualifies first, each with
  /// the smallest one that it may be merged with. Their members are groups of the level below.
  [[nodiscard]] Grouping merged(std::int32_t boundary) const {
    Grouping next = *this;
    while (next.merge_once(boundary)) continue;
    return next;
  }

  void merge_all() {
    while (groups_.size() > 1) merge(0, groups_.size() - 1);
  }

 private:
  bool merge_once(std::int32_t boundary) {
    std::vector<std::size_t> by_size(groups_.size());
    for (std::size_t index = 0; index < by_size.size(); ++index) by_size[index] = index;
    std::stable_sort(by_size.begin(), by_size.end(), [this](std::size_t left, std::size_t right) {
      return groups_[left].size() < groups_[right].size();
    });
    for (const std::size_t first : by_size) {
      for (const std::size_t second : by_size) {
        if (second == first || !may_merge(first, second, boundary)) continue;
        merge(std::min(first, second), std::max(first, second));
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool may_merge(std::size_t first, std::size_t second, std::int32_t boundary) const {
    Range range = between_[first][second];
    if (range.most > boundary) return false;
    range.include(between_[first][first]);
    range.include(between_[second][second]);
    return range.most - range.least <= max_span_;
  }

  /// Makes one group of two; the higher index goes to the last group.
  void merge(std::size_t kept, std::size_t gone) {
    between_[kept][kept].include(between_[gone][gone]);
    between_[kept][kept].include(between_[kept][gone]);
    groups_[kept].insert(groups_[kept].end(), groups_[gone].begin(), groups_[gone].end());
    for (std::size_t other = 0; other < groups_.size(); ++other) {
      if (other == kept || other == gone) continue;
      between_[kept][other].include(between_[gone][other]);
      between_[other][kept] = between_[kept][other];
    }
    const std::size_t last = groups_.size() - 1;
    if (gone != last) {
      groups_[gone] = std::move(groups_[last]);
      for (std::size_t other = 0; other < last; ++other) {
        between_[gone][other] = between_[last][other];
        between_[other][gone] = between_[other][last];
      }
      between_[gone][gone] = between_[last][last];
    }
    groups_.pop_back();
  }

  std::int32_t max_span_;
  std::vector<Members> groups_;
  std::vector<std::vector<Range>> between_;  // of two groups, the diagonal inside one
};

std::vector<std::int32_t> group_of_host(const std::vector<Members>& groups, std::size_t num_hosts) {
  std::vector<std::int32_t> found(num_hosts);
  // Groups are numbered by their first host.
  std::vector<std::pair<std::size_t, std::size_t>> by_first;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    by_first.emplace_back(*std::min_element(groups[index].begin(), groups[index].end()), index);
  }
  std::sort(by_first.begin(), by_first.end());
  for (std::size_t number = 0; number < by_first.size(); ++number) {
    for (const std::size_t host : groups[by_first[number].second]) {
      found[host] = static_cast<std::int32_t>(number);
    }
  }
  return found;
}

}  // namespace

std::int32_t discrete_level(double value, double least, double factor) {
  if (value <= least) return 0;
  return static_cast<std::int32_t>(
      std::floor(std::log(value / least) / std::log(factor) + kRounding));
}

Hierarchy build_hierarchy(const MeasuredNetwork& network, const HierarchyOptions& options) {
  if (!(options.factor > 1.0)) {
    throw InputError("hierarchy: k: must be > 1, got " + std::to_string(options.factor));
  }
  if (options.max_span < 0) throw InputError("hierarchy: max_span: must be >= 0");
  const Links links(network);
  const std::size_t num_hosts = links.num_hosts();
  const std::vector<double> bandwidth_Bps = busy_bandwidth_Bps(links);
  Hierarchy hierarchy;
  hierarchy.transfer_s.assign(num_hosts * num_hosts, 0.0);
  hierarchy.level_of_pair.assign(num_hosts * num_hosts, 0);
  double least_s = std::numeric_limits<double>::infinity();
  for (std::size_t pair = 0; pair < num_hosts * num_hosts; ++pair) {
    if (pair % (num_hosts + 1) == 0) continue;
    hierarchy.transfer_s[pair] =
        network.latency_s.values[pair] + options.message_bytes / bandwidth_Bps[pair];
    least_s = std::min(least_s, hierarchy.transfer_s[pair]);
  }
  std::int32_t highest = 0;
  std::size_t num_uneven = 0;
  for (std::size_t pair = 0; pair < num_hosts * num_hosts; ++pair) {
    if (pair % (num_hosts + 1) == 0) continue;
    hierarchy.level_of_pair[pair] =
        discrete_level(hierarchy.transfer_s[pair], least_s, options.factor);
    highest = std::max(highest, hierarchy.level_of_pair[pair]);
    const std::size_t back = pair % num_hosts * num_hosts + pair / num_hosts;
    // Each pair of hosts is seen whole when its second direction comes.
    if (back < pair && hierarchy.level_of_pair[back] != hierarchy.level_of_pair[pair]) ++num_uneven;
  }
  const std::size_t num_pairs = num_hosts * (num_hosts - 1) / 2;
  if (num_pairs > 0) {
    hierarchy.asymmetry_ratio = static_cast<double>(num_uneven) / static_cast<double>(num_pairs);
  }
  // Algorithm 1: the boundary grows until a level has at most half the groups of the one below.
  Grouping grouping(hierarchy.level_of_pair, num_hosts, options.max_span);
  for (std::int32_t boundary = 0; boundary <= highest && grouping.groups().size() > 1; ++boundary) {
    Grouping next = grouping.merged(boundary);
    if (2 * next.groups().size() > grouping.groups().size()) continue;
    grouping = std::move(next);
    hierarchy.group_of_host.push_back(group_of_host(grouping.groups(), num_hosts));
  }
  if (grouping.groups().size() > 1 || hierarchy.group_of_host.empty()) {
    grouping.merge_all();
    hierarchy.group_of_host.push_back(group_of_host(grouping.groups(), num_hosts));
  }
  return hierarchy;
}

}  // namespace fairlead::collectives
