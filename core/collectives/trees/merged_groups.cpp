// SPDX-License-Identifier: Apache-2.0
// Groups of near hosts by merging: groups of groups, until one is left.
#include "collectives/trees/merged_groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace fairlead::collectives {
namespace {

constexpr double kLevelRounding = 1e-9;
/// A level is this many times as slow as the one before.
constexpr double kLevelRatio = 4.0;
/// Between the fastest and the slowest pair of a group.
constexpr std::int32_t kMostLevelsInGroup = 1;

using HostList = std::vector<std::size_t>;

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
struct LevelRange {
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  std::int32_t most = 0;

  void include(const LevelRange& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

class MergedGroups {
 public:
  MergedGroups(const std::vector<std::int32_t>& level_of_pair, std::size_t num_hosts)
      : between_(num_hosts, std::vector<LevelRange>(num_hosts)) {
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

  [[nodiscard]] const std::vector<HostList>& groups() const { return groups_; }

  /// Merges groups within the boundary, the smallest that qualifies first, each with
  /// the smallest one that it may be merged with. Their members are groups of the level below.
  [[nodiscard]] MergedGroups merged(std::int32_t boundary) const {
    MergedGroups next = *this;
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
    LevelRange range = between_[first][second];
    if (range.most > boundary) return false;
    range.include(between_[first][first]);
    range.include(between_[second][second]);
    return range.most - range.least <= kMostLevelsInGroup;
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

  std::vector<HostList> groups_;
  std::vector<std::vector<LevelRange>> between_;  // of two groups, the diagonal inside one
};

std::vector<std::int32_t> numbered_by_first(const std::vector<HostList>& groups,
                                            std::size_t num_hosts) {
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

/// Level l holds the times from kLevelRatio^l to kLevelRatio^(l + 1) times the least.
std::vector<std::int32_t> levels_by_powers(const std::vector<double>& transfer_s,
                                           std::size_t num_hosts) {
  double least_s = std::numeric_limits<double>::infinity();
  for (std::size_t pair = 0; pair < transfer_s.size(); ++pair) {
    if (pair % (num_hosts + 1) != 0 && transfer_s[pair] > 0.0) {
      least_s = std::min(least_s, transfer_s[pair]);
    }
  }
  std::vector<std::int32_t> level_of_pair(transfer_s.size(), 0);
  for (std::size_t pair = 0; pair < transfer_s.size(); ++pair) {
    if (transfer_s[pair] <= least_s) continue;
    level_of_pair[pair] = static_cast<std::int32_t>(
        std::floor(std::log(transfer_s[pair] / least_s) / std::log(kLevelRatio) + kLevelRounding));
  }
  return level_of_pair;
}

}  // namespace

GroupsOfHosts merge_near_hosts(const Links& links, double message_bytes) {
  const std::size_t num_hosts = links.num_hosts();
  const std::vector<double> bandwidth_Bps = busy_bandwidth_Bps(links);
  GroupsOfHosts found;
  found.transfer_s.assign(num_hosts * num_hosts, 0.0);
  for (std::size_t pair = 0; pair < num_hosts * num_hosts; ++pair) {
    if (pair % (num_hosts + 1) == 0) continue;
    found.transfer_s[pair] = links.latencies_s()[pair] + message_bytes / bandwidth_Bps[pair];
  }
  const auto level_of_pair = levels_by_powers(found.transfer_s, num_hosts);
  const std::int32_t highest = *std::max_element(level_of_pair.begin(), level_of_pair.end());
  // The boundary grows until a level has at most half the groups of the one below.
  MergedGroups merged(level_of_pair, num_hosts);
  for (std::int32_t boundary = 0; boundary <= highest && merged.groups().size() > 1; ++boundary) {
    MergedGroups next = merged.merged(boundary);
    if (2 * next.groups().size() > merged.groups().size()) continue;
    merged = std::move(next);
    found.group_of_host.push_back(numbered_by_first(merged.groups(), num_hosts));
  }
  if (merged.groups().size() > 1 || found.group_of_host.empty()) {
    merged.merge_all();
    found.group_of_host.push_back(numbered_by_first(merged.groups(), num_hosts));
  }
  return found;
}

}  // namespace fairlead::collectives
