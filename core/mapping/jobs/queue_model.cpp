// SPDX-License-Identifier: Apache-2.0
// Backlog in closed form, bursts for each pair of classes.
#include "mapping/jobs/queue_model.hpp"

#include <algorithm>

namespace fairlead::sim {
namespace {

// Closer to a full load, the mean wait of M/G/1 would be longer than a run.
constexpr double kLeastIdleRatio = 0.01;

/// Waiting work as a fluid, ns.
struct Backlog {
  double now_ns = 0.0;
  double area_ns2 = 0.0;  ///< over time, so far

  void pass(double duration_ns, double growth) {
    const double falls_for_ns = growth < 0.0 ? now_ns / -growth : duration_ns;
    const double moving_ns = std::min(duration_ns, falls_for_ns);
    area_ns2 += moving_ns * (now_ns + growth * moving_ns / 2.0);
    now_ns = std::max(0.0, now_ns + growth * moving_ns);
  }
};

}  // namespace

ServerTimes QueueModel::backlog() {
  double total_load = 0.0, waiting_ns = 0.0, time_ns = 0.0, work_ns = 0.0;
  for (const Active& active : active_) total_load += load(active);
  Backlog backlog;
  for (std::size_t index = 0; index < active_.size(); ++index) {
    const std::size_t stream_class = active_[index].stream_class;
    const double end_ns = classes_.duration_ns(stream_class);
    backlog.pass(end_ns - time_ns, total_load - 1.0);
    work_ns += total_load * (end_ns - time_ns);
    load_until_[index] = work_ns / end_ns;
    time_ns = end_ns;
    waiting_ns +=
        active_[index].demand.num_streams / classes_.period_ns(stream_class) * backlog.area_ns2;
    total_load -= load(active_[index]);
  }
  return {waiting_ns, time_ns + backlog.now_ns};
}

double QueueModel::bursts_ns() const {
  double sum_ns = 0.0;
  for (std::size_t one = 0; one < active_.size(); ++one) {
    const Active& waits = active_[one];
    double found_ns = waits.demand.own_burst_ns;
    for (std::size_t other = 0; other < active_.size(); ++other) {
      if (other == one) continue;
      const Active& met = active_[other];
      // A burst is served with the share of the server that the others leave; during this time it
      // can delay others. If the waiting class ends before the next burst, only the first burst
      // counts, for the whole time.
      const double left = 1.0 - (load_until_[std::min(one, other)] - load(met));
      const double served_ns = met.demand.burst_ns / std::max(left, kLeastIdleRatio);
      const double period_ns = classes_.period_ns(met.stream_class);
      const double window_ns = std::min(period_ns, classes_.duration_ns(waits.stream_class));
      const double most = window_ns < period_ns ? 2.0 - window_ns / served_ns : 1.0;
      const double lasting = served_ns <= window_ns ? served_ns / window_ns : most;
      const double coincides = classes_.coincidence_ratio(waits.stream_class, met.stream_class);
      found_ns += classes_.overlap_ratio(waits.stream_class, met.stream_class) *
                  met.demand.burst_ns * (coincides + (1.0 - coincides) * lasting);
    }
    sum_ns += waits.demand.num_streams * classes_.num_messages(waits.stream_class) * found_ns / 2.0;
  }
  return sum_ns;
}

double QueueModel::random_ns() const {
  double sum_ns = 0.0;
  for (std::size_t one = 0; one < active_.size(); ++one) {
    double left_over_ns = 0.0;
    for (std::size_t other = 0; other < active_.size(); ++other) {
      const Demand& met = active_[other].demand;
      left_over_ns +=
          classes_.overlap_ratio(active_[one].stream_class, active_[other].stream_class) *
          load(active_[other]) * met.work_ns / met.num_streams / 2.0;
    }
    sum_ns += active_[one].demand.num_streams * classes_.num_messages(active_[one].stream_class) *
              left_over_ns / std::max(kLeastIdleRatio, 1.0 - load_until_[one]);
  }
  return sum_ns;
}

}  // namespace fairlead::sim
