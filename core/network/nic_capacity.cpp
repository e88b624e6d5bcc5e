// SPDX-License-Identifier: Apache-2.0
// Doubles the number of partners until the rate stands still.
#include "nic_capacity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead {
namespace {

// Twice the partners that bring less than this have not found room: the interface is full.
constexpr double kGrowth_ratio = 1.1;
constexpr int kNumRepeats = 3;

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
  std::ranges::stable_partition(flows, [&](Flow flow) {
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
  double most_Bps = steps.alone_Bps(flows.front());
  const std::size_t most_flows = std::min(flows.size(), static_cast<std::size_t>(max_flows));
  for (std::size_t num_flows = 2; num_flows <= most_flows; num_flows *= 2) {
    std::vector<double> totals_Bps;
    for (int repeat = 0; repeat < kNumRepeats; ++repeat) {
      const double total_Bps = steps.together_Bps(std::span(flows).first(num_flows));
      if (std::isfinite(total_Bps)) totals_Bps.push_back(total_Bps);
    }
    const double middle_Bps = estimate_median(totals_Bps).median;
    const bool is_full = !(middle_Bps > kGrowth_ratio * most_Bps);
    // A partner that does not answer must not hide what the others carry.
    most_Bps = std::fmax(most_Bps, middle_Bps);
    if (is_full) break;
  }
  return most_Bps;
}

}  // namespace fairlead
