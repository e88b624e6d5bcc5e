// SPDX-License-Identifier: Apache-2.0
// Steps of the contention probe: one flow alone, flows together, and the highest rate so far.
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include "fairlead/network/contention.hpp"

namespace fairlead {

/// Ends the search from any place when no further step is possible.
class NoMoreSteps : public std::exception {};

/// Makes and counts the steps. Rates are nan where a host did not answer.
class FlowSteps {
 public:
  explicit FlowSteps(const MeasureFlows& measure) : measure_(measure) {}

  /// Rate of a flow that runs alone; measured once, later calls return the same.
  /// @throws NoMoreSteps, as all that measure.
  double alone_Bps(Flow flow);
  /// Measures it again; `alone_Bps` returns the new rate from now on.
  double alone_again_Bps(Flow flow);
  /// Total rate of the flows when they run together.
  double together_Bps(std::span<const Flow> flows, Precision precision = Precision::glance);

  /// The highest rate of any step with at most two flows, and its rate when repeated now.
  [[nodiscard]] double best_Bps() const { return best_Bps_; }
  double best_again_Bps();

  [[nodiscard]] int num_steps() const { return num_steps_; }

 private:
  double run(std::span<const Flow> flows, Precision precision = Precision::glance);

  const MeasureFlows& measure_;
  std::map<Flow, double> alone_Bps_;
  std::vector<Flow> best_;
  double best_Bps_ = 0;
  int num_steps_ = 0;
};

}  // namespace fairlead
