// SPDX-License-Identifier: Apache-2.0
// Makes and counts the steps.
#include "network/contention/flow_steps.hpp"

#include <array>
#include <numeric>

namespace fairlead {

double FlowSteps::alone_Bps(Flow flow) {
  const auto known = alone_Bps_.find(flow);
  return known != alone_Bps_.end() ? known->second : alone_again_Bps(flow);
}

double FlowSteps::alone_again_Bps(Flow flow) {
  return alone_Bps_[flow] = run(std::array{flow});
}

double FlowSteps::together_Bps(std::span<const Flow> flows, Precision precision) {
  return run(flows, precision);
}

double FlowSteps::best_again_Bps() {
  // A copy: the step may find a better one and replace it.
  const std::vector<Flow> best = best_;
  return best.empty() ? 0 : run(best);
}

double FlowSteps::run(std::span<const Flow> flows, Precision precision) {
  const auto rates_Bps = measure_(flows, precision);
  if (!rates_Bps) throw NoMoreSteps();
  ++num_steps_;
  const double total_Bps = std::accumulate(rates_Bps->begin(), rates_Bps->end(), 0.0);
  if (flows.size() <= 2 && total_Bps > best_Bps_) {
    best_Bps_ = total_Bps;
    best_.assign(flows.begin(), flows.end());
  }
  return total_Bps;
}

}  // namespace fairlead
