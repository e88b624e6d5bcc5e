// SPDX-License-Identifier: Apache-2.0
// Plans for calls on a thread of its own, while the program goes on by the schedule in use.
#pragma once

#include <future>
#include <string>

#include "collectives/schedule_planner.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "plan/network_plan.hpp"

namespace fairlead::intercept {

/// What is planned, by values that nothing else changes.
struct PlanningTask {
  SchedulePlanner planner;
  PlanRequest request;
  NetworkPlan network;                       ///< between the planner's hosts, as it is now
  fairlead::collectives::Schedule schedule;  ///< in use; of no host: none is
  /// Nothing is planned unless the time of the schedule in use moves further than this.
  double min_ratio = 0.0;
};

/// What the network as it is now means for the calls.
struct Replanned {
  double predicted_s = 0.0;  ///< by the schedule in use
  bool has_moved = false;    ///< that time, far enough
  std::string schedule{};    ///< another one, as text; empty: none is better
  double planning_s = 0.0;   ///< of a processor
};

/// The planning of one rank. Its destructor waits for the end of the planning, as no thread may
/// outlive the program's MPI.
class BackgroundPlanning {
 public:
  explicit BackgroundPlanning(PlanningTask task);

  [[nodiscard]] bool is_ready() const;
  /// Waits for it if it is not ready; once.
  [[nodiscard]] Replanned take() { return replanned_.get(); }

 private:
  std::future<Replanned> replanned_;
};

}  // namespace fairlead::intercept
