// SPDX-License-Identifier: Apache-2.0
#include "collectives/background_planning.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <system_error>
#include <utility>

#include "collectives/current_network.hpp"
#include "fairlead/collectives/planning.hpp"
#include "fairlead/without_signals.hpp"
#include "pmpi/simulated.hpp"
#include "schedule_json.hpp"

namespace fairlead::intercept {
namespace {

namespace executors = fairlead::collectives;
using executors::Schedule;

double processor_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Whether calls by the two send the same messages.
bool are_same(Schedule one, const Schedule& other) {
  one.predicted_s = other.predicted_s;
  one.lower_bound_s = other.lower_bound_s;
  return write_schedule(one) == write_schedule(other);
}

Replanned replanned(const PlanningTask& task) {
  // A communicator like one before it has a kept schedule.
  if (task.schedule.num_hosts == 0) {
    return {.schedule = task.planner.planned(task.request, current_network())};
  }
  Replanned found{.predicted_s = executors::predicted_s(task.network.measured(), task.schedule)};
  const double most = 1 + task.min_ratio;
  const double before_s = task.schedule.predicted_s;
  found.has_moved = found.predicted_s > before_s * most || found.predicted_s * most < before_s;
  if (!found.has_moved) return found;
  std::string text = task.planner.write(task.request, task.network);
  if (!text.empty() && !are_same(SchedulePlanner::read(text), task.schedule)) {
    found.schedule = std::move(text);
  }
  return found;
}

/// Where it fails the schedule in use stays.
Replanned work(const PlanningTask& task) noexcept try {
  const double begin_s = processor_s();
  Replanned found = replanned(task);
  found.planning_s = processor_s() - begin_s;
  return found;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fairlead: no new schedule is planned: %s\n", error.what());
  return {};
}

/// A simulation runs all ranks in one process, and its time does not pass while one computes.
constexpr auto kPolicy = kIsSimulated ? std::launch::deferred : std::launch::async;

}  // namespace

BackgroundPlanning::BackgroundPlanning(PlanningTask task) {
  const auto start = [&](std::launch policy) {
    const WithoutSignals without_signals;
    replanned_ = std::async(policy, [task] { return work(task); });
  };
  try {
    start(kPolicy);
  } catch (const std::system_error&) {
    // No thread to be had: it is planned when it is taken.
    start(std::launch::deferred);
  }
}

bool BackgroundPlanning::is_ready() const {
  return replanned_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

}  // namespace fairlead::intercept
