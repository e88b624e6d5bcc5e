// SPDX-License-Identifier: Apache-2.0
// Doubles the number of partners until the rate no longer grows.
#include "network/contention/nic_capacity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead {
namespace {

// If twice the partners gain less than this, the interface is full.
constexpr double kGrowth_ratio = 1.1;
constexpr int kNumRepeats = 2;

bool has(const BottleneckGroup& group, Flow flow) {
  return std::ranges::binary_search(group.sources, flow.src) &&
         std::ranges::binary_search(group.destinations, flow.dst);
}

std::vector<Flow> flows_of(int host, Direction direction, int num_hosts,
                           std::span<const BottleneckGroup> groups, RandomOrder& random) {
  std::vector<Flow> flows;
  for (int partner = 0; partner < num_hosts; ++partner) {
    if (partner == host) continue;
    flows.push_back(direction == Direction::out ? Flow{host, partner} : Flow{partner, host});
  }
  random.shuffle(flows);
  std::stable_partition(flows.begin(), flows.end(), [&](Flow flow) {
    return std::ranges::none_of(groups, [&](const auto& group) { return has(group, flow); });
  });
  return flows;
}

}  // namespace

double nic_capacity_Bps(int host, Direction direction, int num_hosts, int max_flows,
                        std::span<const BottleneckGroup> groups, FlowSteps& steps,
                        RandomOrder& random) {
  const std::vector<Flow> flows = flows_of(host, direction, num_hosts, groups, random);
  if (flows.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t most_flows = std::min(flows.size(), static_cast<std::size_t>(max_flows));
  double most_Bps = steps.alone_Bps(flows.front());
  std::size_t best_num_flows = 1;
  for (std::size_t num_flows = 2; num_flows <= most_flows; num_flows *= 2) {
    const double total_Bps = steps.together_Bps(std::span(flows).first(num_flows));
    const bool is_full = !(total_Bps > kGrowth_ratio * most_Bps);
    if (total_Bps > most_Bps || std::isnan(most_Bps)) {
      most_Bps = total_Bps;
      best_num_flows = num_flows;
    }
    if (is_full) break;
  }
  // The best of several measurements would be too high; the median is not.
  std::vector<double> totals_Bps = {most_Bps};
  for (int repeat = 0; std::isfinite(most_Bps) && repeat < kNumRepeats; ++repeat) {
    totals_Bps.push_back(steps.together_Bps(std::span(flows).first(best_num_flows)));
  }
  std::erase_if(totals_Bps, [](double Bps) { return std::isnan(Bps); });
  return estimate_median(totals_Bps).median;
}

}  // namespace fairlead
