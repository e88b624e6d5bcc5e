// SPDX-License-Identifier: Apache-2.0
// Sequential comparisons: a clear answer takes one step, an unclear one some more.
#include "network/contention/sharing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fairlead {
namespace {

// Together, two flows that share carry at most this fraction of the sum of their rates alone. Two
// flows that each fill the bottleneck carry half; rates of flows that share nothing vary by less
// than a quarter.
constexpr double kSharedBelow_ratio = 0.75;
// If all hosts are on one machine, another step must have carried this much more just now, which
// shows that the processor is not the limit.
constexpr double kHeadroom_ratio = 1.3;
// An answer leads when it came this many times more often than the other.
constexpr int kLead = 2;
constexpr int kMaxRounds = 7;
// This far from the threshold, one measurement decides.
constexpr double kClear_ratio = 1.12;

double median(const std::vector<double>& values) {
  return estimate_median(values).median;
}

}  // namespace

bool Sharing::is_too_slow(double alone_Bps, double capacity_Bps) {
  return !(capacity_Bps < kSharedBelow_ratio * alone_Bps);  // true where nan
}

Comparison Sharing::compare(const FlowPair& flows, Precision precision) {
  const double first_Bps = steps_.alone_again_Bps(flows.first);
  const double together_Bps = steps_.together_Bps(flows.both(), precision);
  const double second_Bps = steps_.alone_again_Bps(flows.second);
  return {.alone_Bps = first_Bps + second_Bps, .together_Bps = together_Bps};
}

bool Sharing::is_bottleneck(const Comparison& seen) {
  if (!(seen.together_Bps < kSharedBelow_ratio * seen.alone_Bps)) return false;
  if (!is_one_machine_) return true;
  const double needed_Bps = kHeadroom_ratio * seen.together_Bps;
  return steps_.best_Bps() > needed_Bps && steps_.best_again_Bps() > needed_Bps;
}

double Sharing::shared_capacity_Bps(const FlowPair& flows) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const double alone_Bps = steps_.alone_Bps(flows.first) + steps_.alone_Bps(flows.second);
  const double first_Bps = steps_.together_Bps(flows.both());
  if (!is_bottleneck({.alone_Bps = alone_Bps, .together_Bps = first_Bps})) return kNone;
  std::vector<double> together_Bps = {first_Bps};
  int lead = 1;
  for (int round = 1; round < kMaxRounds && lead > 0 && lead <= kLead; ++round) {
    const Comparison seen = compare(flows);
    lead += is_bottleneck(seen) ? 1 : -1;
    together_Bps.push_back(seen.together_Bps);
  }
  return lead > kLead ? median(together_Bps) : kNone;
}

Verdict Sharing::share(const FlowPair& flows, double capacity_Bps) {
  std::vector<double> ratios;  // ratio of the common rate to the threshold: below 1 means shared
  for (int lead = 0; std::abs(lead) < kLead && ratios.size() < kMaxRounds;) {
    const double alone_Bps =
        ratios.empty() ? steps_.alone_Bps(flows.first) + steps_.alone_Bps(flows.second)
                       : steps_.alone_again_Bps(flows.first) + steps_.alone_again_Bps(flows.second);
    if (is_too_slow(alone_Bps, capacity_Bps)) return Verdict::unknown;
    const double together_Bps = steps_.together_Bps(flows.both());
    if (!std::isfinite(together_Bps)) return Verdict::unknown;
    const double ratio = together_Bps / std::sqrt(capacity_Bps * alone_Bps);
    ratios.push_back(ratio);
    const bool is_clear = !is_one_machine_ && std::abs(std::log(ratio)) > std::log(kClear_ratio);
    lead += (ratio < 1 ? 1 : -1) * (is_clear ? kLead : 1);
  }
  return median(ratios) < 1 ? Verdict::shared : Verdict::apart;
}

}  // namespace fairlead
