// SPDX-License-Identifier: Apache-2.0
// A pool of worker threads for the starts; the answer does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "fairlead/mapping/optimize.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/anneal/stop_criterion.hpp"

namespace fairlead::optimizing {

/// The result of each start, in their order; empty where it was not begun before the end.
/// @param num_proposals  of all of them
/// @param timer,end_s  begun with the run, and when it ends
/// @param walk  called with the number of the start and the criterion, from several threads
template <typename Walk>
std::vector<HostOfTask> run_starts(const OptimizeOptions& options, int num_starts,
                                   std::int64_t num_proposals, Walk walk, Timer timer = {},
                                   double end_s = std::numeric_limits<double>::infinity()) {
  StopCriterion stop(options, num_proposals, timer, end_s);
  std::vector<HostOfTask> results(static_cast<std::size_t>(num_starts));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int start = next++; start < num_starts; start = next++) {
      if (start > 0 && (stop(0) || stop.is_late())) return;
      results[static_cast<std::size_t>(start)] = walk(start, stop);
    }
  };
  std::vector<std::jthread> workers;
  for (int thread = 1; thread < std::min(options.num_threads, num_starts); ++thread) {
    workers.emplace_back(work);
  }
  work();
  workers.clear();  // joins
  return results;
}

}  // namespace fairlead::optimizing
