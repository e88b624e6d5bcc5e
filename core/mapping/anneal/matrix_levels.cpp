// SPDX-License-Identifier: Apache-2.0
// Near hosts are paired greedily, the nearest first.
#include "mapping/anneal/matrix_levels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fairlead::optimizing {
namespace {

// With fewer hosts, levels do not help; more take too long to pair (bench/placement); with fewer
// groups there is nothing to choose.
constexpr std::size_t kFewestHosts = 128;
constexpr std::size_t kMostHosts = 2048;
constexpr std::size_t kFewestGroups = 4;

struct Pair {
  double cost;
  std::int32_t one, other;
};

/// Pairs of hosts; a remaining one stays alone.
HostGrouping pair_up(const HostMatrix& cost) {
  std::vector<Pair> pairs;
  const auto num_hosts = static_cast<std::int32_t>(cost.num_hosts);
  for (std::int32_t one = 0; one < num_hosts; ++one) {
    for (std::int32_t other = one + 1; other < num_hosts; ++other) {
      const auto first = static_cast<std::size_t>(one), second = static_cast<std::size_t>(other);
      pairs.push_back({cost(first, second) + cost(second, first), one, other});
    }
  }
  std::ranges::stable_sort(pairs, {}, &Pair::cost);
  HostGrouping grouping;
  grouping.group_of_host.assign(cost.num_hosts, -1);
  const auto group_of = [&grouping](std::int32_t host) -> std::int32_t& {
    return grouping.group_of_host[static_cast<std::size_t>(host)];
  };
  for (const Pair& pair : pairs) {
    if (group_of(pair.one) >= 0 || group_of(pair.other) >= 0) continue;
    group_of(pair.one) = group_of(pair.other) = grouping.num_groups++;
  }
  for (std::int32_t& group : grouping.group_of_host) {
    if (group < 0) group = grouping.num_groups++;
  }
  return grouping;
}

/// Mean cost between the hosts of two groups; inside one, between its different hosts.
std::vector<double> mean_costs(const HostMatrix& cost, const HostGrouping& grouping) {
  const auto num_groups = static_cast<std::size_t>(grouping.num_groups);
  std::vector<double> sum(num_groups * num_groups, 0.0), number(sum.size(), 0.0);
  for (std::size_t src = 0; src < cost.num_hosts; ++src) {
    for (std::size_t dst = 0; dst < cost.num_hosts; ++dst) {
      const auto entry = static_cast<std::size_t>(grouping.group_of_host[src]) * num_groups +
                         static_cast<std::size_t>(grouping.group_of_host[dst]);
      // Traffic inside a host stays inside a host.
      if (src == dst) continue;
      sum[entry] += cost(src, dst);
      number[entry] += 1.0;
    }
  }
  for (std::size_t entry = 0; entry < sum.size(); ++entry) {
    if (number[entry] > 0.0) sum[entry] /= number[entry];
  }
  return sum;
}

}  // namespace

MatrixLevels::MatrixLevels(const HostMatrix& cost) {
  costs.emplace_back(cost);
  std::vector<double> coarse(cost.values.begin(), cost.values.end());
  std::size_t num_hosts = cost.num_hosts;
  if (num_hosts < kFewestHosts || num_hosts > kMostHosts) return;
  while (num_hosts >= 2 * kFewestGroups) {
    const HostMatrix matrix{.num_hosts = num_hosts, .values = coarse};
    HostGrouping grouping = pair_up(matrix);
    coarse = mean_costs(matrix, grouping);
    num_hosts = static_cast<std::size_t>(grouping.num_groups);
    costs.emplace_back(HostMatrix{.num_hosts = num_hosts, .values = coarse});
    groupings.push_back(std::move(grouping));
  }
}

}  // namespace fairlead::optimizing
