// SPDX-License-Identifier: Apache-2.0
// The end of a run: at a time, or when the caller stops it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/timer.hpp"
#include "fairlead/mapping/optimize.hpp"

namespace fairlead::optimizing {

/// The stopping criterion that all walks of a run share: it counts their proposals, reports
/// progress, and ends them when the caller asks for it. It also has the time at which the run ends.
class StopCriterion {
 public:
  /// @param end_s  on the timer; the walks share the time from now until then
  StopCriterion(const OptimizeOptions& options, std::int64_t num_all, Timer timer, double end_s)
      : options_(options),
        num_all_(num_all),
        timer_(timer),
        end_s_(end_s),
        available_s_(end_s - timer.elapsed_s()) {}

  /// Called by each walk after `num_proposals` more; true when the walk has to stop.
  bool operator()(std::int64_t num_proposals) {
    const std::int64_t num_done = num_done_ += num_proposals;
    if (is_stopped_) return true;
    if (options_.on_progress && num_done - num_reported_ > num_all_ / kMostReports) {
      const std::scoped_lock lock(mutex_);
      if (num_done - num_reported_ > num_all_ / kMostReports) {
        num_reported_ = num_done;
        if (!options_.on_progress({.num_done = num_done, .num_all = num_all_})) is_stopped_ = true;
      }
    }
    return is_stopped_;
  }

  [[nodiscard]] double elapsed_s() const { return timer_.elapsed_s(); }
  [[nodiscard]] bool is_late() const { return elapsed_s() >= end_s_; }
  /// The end of a walk that begins now and may take this fraction of the time of all walks.
  [[nodiscard]] double end_of_part_s(double part) const {
    return std::min(elapsed_s() + part * available_s_, end_s_);
  }

 private:
  static constexpr std::int64_t kMostReports = 200;

  const OptimizeOptions& options_;
  std::int64_t num_all_;
  Timer timer_;
  double end_s_;
  double available_s_;
  std::atomic<std::int64_t> num_done_{0};
  std::atomic<std::int64_t> num_reported_{0};
  std::atomic<bool> is_stopped_{false};
  std::mutex mutex_;  // of calls of on_progress
};

}  // namespace fairlead::optimizing
