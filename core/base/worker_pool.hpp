// SPDX-License-Identifier: Apache-2.0
// A pool of worker threads that share numbered tasks.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace fairlead {

/// Calls `work` with each number from 0 to `num_tasks - 1`, in ascending order, from `num_threads`
/// threads, the caller's among them. A thread for which `work` returns false takes no more tasks.
template <typename Work>
void share_among_workers(int num_threads, int num_tasks, const Work& work) {
  std::atomic<int> next{0};
  const auto take_tasks = [&] {
    for (int task = next++; task < num_tasks; task = next++) {
      if (!work(task)) return;
    }
  };
  std::vector<std::jthread> workers;
  for (int thread = 1; thread < std::min(num_threads, num_tasks); ++thread) {
    workers.emplace_back(take_tasks);
  }
  take_tasks();
  workers.clear();  // joins
}

}  // namespace fairlead
