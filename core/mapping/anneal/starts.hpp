// SPDX-License-Identifier: Apache-2.0
// Walks from numbered starts; the answer does not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/timer.hpp"
#include "base/worker_pool.hpp"
#include "fairlead/mapping/optimize.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/anneal/stop_criterion.hpp"

namespace fairlead::optimizing {

/// The result of each start, in order; empty if it did not begin before the end.
/// @param num_proposals  of all of them
/// @param timer,end_s  begun with the run, and when it ends
/// @param walk  called with the number of the start and the criterion, from several threads
template <typename Walk>
std::vector<HostOfTask> run_starts(const OptimizeOptions& options, int num_starts,
                                   std::int64_t num_proposals, Walk walk, Timer timer = {},
                                   double end_s = std::numeric_limits<double>::infinity()) {
  StopCriterion stop(options, num_proposals, timer, end_s);
  std::vector<HostOfTask> results(static_cast<std::size_t>(num_starts));
  share_among_workers(options.num_threads, num_starts, [&](int start) {
    if (start > 0 && (stop(0) || stop.is_late())) return false;
    results[static_cast<std::size_t>(start)] = walk(start, stop);
    return true;
  });
  return results;
}

}  // namespace fairlead::optimizing
