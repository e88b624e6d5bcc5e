// SPDX-License-Identifier: Apache-2.0
#include "routing/link_table.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::relay {
namespace {

// Single segments may meet a queue by chance. Still the first measured one is better than the plan.
constexpr double kHopSampleWeight = 0.25;

}  // namespace

LinkTable::LinkTable(std::vector<std::vector<double>> latency_s)
    : latency_s_(std::move(latency_s)),
      is_measured_(latency_s_.size(), std::vector<bool>(latency_s_.size(), false)) {}

double LinkTable::path_s(std::uint16_t src, std::span<const std::uint16_t> hops) const {
  double sum_s = 0.0;
  for (const std::uint16_t hop : hops) sum_s += latency_s_[std::exchange(src, hop)][hop];
  return sum_s;
}

void LinkTable::learn(std::uint16_t src, std::span<const std::uint16_t> hops,
                      std::span<const double> hops_s) {
  if (is_empty()) return;
  const std::size_t count = std::min(hops.size(), hops_s.size());
  for (std::size_t index = 0; index < count; ++index) {
    const std::uint16_t from = std::exchange(src, hops[index]);
    double& known_s = latency_s_[from][hops[index]];
    const double weight = is_measured_[from][hops[index]] ? kHopSampleWeight : 1.0;
    // Clocks are read in microseconds.
    known_s += weight * (std::max(hops_s[index], 1e-6) - known_s);
    is_measured_[from][hops[index]] = true;
  }
}

std::vector<LinkLatency> LinkTable::measured() const {
  std::vector<LinkLatency> found;
  for (std::size_t src = 0; src < latency_s_.size(); ++src) {
    for (std::size_t dst = 0; dst < latency_s_.size(); ++dst) {
      if (!is_measured_[src][dst]) continue;
      found.push_back(
          {static_cast<std::uint16_t>(src), static_cast<std::uint16_t>(dst), latency_s_[src][dst]});
    }
  }
  return found;
}

}  // namespace fairlead::relay
