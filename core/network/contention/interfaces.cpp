// SPDX-License-Identifier: Apache-2.0
// Interfaces in a few steps, whatever the number of hosts: all are filled at once.
#include <algorithm>
#include <limits>
#include <numeric>

#include "fairlead/network/contention.hpp"
#include "network/contention/random_order.hpp"

namespace fairlead {
namespace {

// With other partners each time: an interface shows where the others have room.
constexpr int kNumSteps = 3;

/// Each host sends to those that are an offset further in the order, and around its end.
std::vector<Flow> shifted_flows(const std::vector<int>& order,
                                std::span<const std::size_t> offsets) {
  std::vector<Flow> flows;
  for (std::size_t place = 0; place < order.size(); ++place) {
    for (const std::size_t offset : offsets) {
      flows.push_back({.src = order[place], .dst = order[(place + offset) % order.size()]});
    }
  }
  return flows;
}

void keep_most(std::vector<double>& most_Bps, const std::vector<double>& now_Bps) {
  for (std::size_t host = 0; host < most_Bps.size(); ++host) {
    // An empty sum has no value; the first one replaces nan.
    if (now_Bps[host] > 0 && !(most_Bps[host] >= now_Bps[host])) most_Bps[host] = now_Bps[host];
  }
}

}  // namespace

ContentionFindings find_interfaces(int num_hosts, const MeasureFlows& measure, int max_flows) {
  const auto size = static_cast<std::size_t>(num_hosts);
  const std::vector<double> unmeasured(size, std::numeric_limits<double>::quiet_NaN());
  ContentionFindings findings{.groups = {}, .nic_out_Bps = unmeasured, .nic_in_Bps = unmeasured};
  const auto num_partners = std::min(static_cast<std::size_t>(max_flows / 2), size - 1);
  if (num_partners < 2) return findings;
  RandomOrder random(0);
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  std::vector<std::size_t> offsets(size - 1);
  std::iota(offsets.begin(), offsets.end(), std::size_t{1});
  for (int step = 0; step < kNumSteps; ++step) {
    random.shuffle(offsets);
    const std::vector<Flow> flows = shifted_flows(order, std::span(offsets).first(num_partners));
    const auto rates_Bps = measure(flows, Precision::glance);
    if (!rates_Bps) {
      findings.is_complete = false;
      break;
    }
    ++findings.num_steps;
    std::vector<double> out_Bps(size, 0.0);
    std::vector<double> in_Bps(size, 0.0);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      const double rate_Bps = (*rates_Bps)[flow];
      if (!(rate_Bps > 0)) continue;
      out_Bps[static_cast<std::size_t>(flows[flow].src)] += rate_Bps;
      in_Bps[static_cast<std::size_t>(flows[flow].dst)] += rate_Bps;
    }
    keep_most(findings.nic_out_Bps, out_Bps);
    keep_most(findings.nic_in_Bps, in_Bps);
  }
  return findings;
}

}  // namespace fairlead
