// SPDX-License-Identifier: Apache-2.0
// Which schedules a running program has compared with the MPI's own calls, for the record of the
// run.
#pragma once

#include <cstdint>

#include "collectives/schedule_planner.hpp"

namespace fairlead::intercept {

enum class TrialEnd : std::uint8_t {
  unpromising,  ///< not compared: predicted to save too little of the time that calls take
  slower,       ///< not faster in turns with the MPI's own calls
  used,         ///< faster, and followed from then on
  left,         ///< it was followed, and proved slower
};

/// A schedule of one communicator's calls; times are of one call.
struct TriedSchedule {
  PlanRequest request;
  TrialEnd end{};
  double predicted_s = 0.0;
  double native_s = 0.0;    ///< by the MPI
  double schedule_s = 0.0;  ///< by the schedule; 0: there was none
};

/// Adds to what this process has tried; of very many the first ones are kept. Thread-safe.
void record_tried(const TriedSchedule& tried);

/// Leaves it in the record of the run; a process that has tried nothing does not.
/// @param rank  of MPI_COMM_WORLD
void write_tried(int rank);

}  // namespace fairlead::intercept
