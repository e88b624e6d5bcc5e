// SPDX-License-Identifier: Apache-2.0
// Starts side by side in threads; the answer does not depend on how many there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "fairlead/mapping/optimize.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/anneal/watch.hpp"

namespace fairlead::optimizing {

/// The result of each start, in their order; empty where it was not begun before the end.
/// @param num_proposals  of all of them
/// @param timer,end_s  begun with the run, and when it ends
/// @param walk  called with the number of the start and the watch, from several threads
template <typename Walk>
std::vector<HostOfTask> run_starts(const OptimizeOptions& options, int num_starts,
                                   std::int64_t num_proposals, Walk walk, Timer timer = {},
                                   double end_s = std::numeric_limits<double>::infinity()) {
  Watch watch(options, num_proposals, timer, end_s);
  std::vector<HostOfTask> results(static_cast<std::size_t>(num_starts));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int start = next++; start < num_starts; start = next++) {
      if (start > 0 && (watch(0) || watch.is_late())) return;
      results[static_cast<std::size_t>(start)] = walk(start, watch);
    }
  };
  std::vector<std::jthread> helpers;
  for (int thread = 1; thread < std::min(options.num_threads, num_starts); ++thread) {
    helpers.emplace_back(work);
  }
  work();
  helpers.clear();  // joins
  return results;
}

}  // namespace fairlead::optimizing
