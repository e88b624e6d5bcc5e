// SPDX-License-Identifier: Apache-2.0
// What this process has done about drifting collectives, for the record of the run.
#pragma once

#include <cstdint>

namespace fairlead::intercept {

/// Counted on rank 0 of each communicator, so that each agreement counts once.
struct DriftCounts {
  std::uint64_t calls = 0;         ///< in windows that are complete
  std::uint64_t windows = 0;       ///< on whose time the ranks have agreed
  std::uint64_t drifts = 0;        ///< windows further from the expected time than the rule allows
  std::uint64_t probes = 0;        ///< of pairs
  std::uint64_t comparisons = 0;   ///< of another schedule, or none, with the one in use, complete
  std::uint64_t replacements = 0;  ///< after which that is used
  double agreements_s = 0.0;       ///< what agreements took, with the wait for the last rank
  double longest_stop_s = 0.0;     ///< for a probe, or to take what was planned after it
  double planning_s = 0.0;         ///< of a processor, while the program runs
};

/// Adds to the counts of this process; the longest stop is the longer one. Thread-safe.
void count_drift(const DriftCounts& more);

/// Leaves them in the record of the run; a rank that counted nothing does so only if it is rank 0.
/// @param rank  of MPI_COMM_WORLD
void write_drift_counts(int rank);

}  // namespace fairlead::intercept
