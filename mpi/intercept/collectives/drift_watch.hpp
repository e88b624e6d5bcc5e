// SPDX-License-Identifier: Apache-2.0
// What is done about the collectives of one communicator when their times drift.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "collectives/agreed_times.hpp"
#include "collectives/background_planning.hpp"
#include "collectives/probed_pairs.hpp"
#include "collectives/schedule_comparison.hpp"
#include "collectives/schedule_planner.hpp"
#include "collectives/watched_times.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "members.hpp"

namespace fairlead::intercept {

/// What is compared with the schedule in use.
struct Candidate {
  /// Another schedule; null: the MPI's own calls.
  std::unique_ptr<fairlead::collectives::Schedule> schedule{};
  /// On which it was planned, and which is kept if it is taken; none: on the network that is kept.
  std::optional<ProbedPairs> probed{};
  ScheduleComparison comparison{};
};

/// The MPI's own calls, as long as a schedule that was never timed may still replace them.
struct UntimedRule {
  std::uint64_t num_calls = 0;  ///< in windows that are complete
  double native_s = 0.0;        ///< of a call in the last one; the same on all ranks

  /// A comparison costs a schedule, and at worst three calls by it. Before it, calls have taken
  /// longer than that, so as many still to come would repay it.
  static constexpr double kLeastSeen_s = 0.1;
  [[nodiscard]] bool is_worth_planning() const {
    return static_cast<double>(num_calls) * native_s >= kLeastSeen_s;
  }
};

/// Rank 0 plans for calls, which go on by the schedule in use.
struct Planning {
  /// What was probed of the network on which it plans; none: it is kept already.
  std::optional<ProbedPairs> probed;
  /// What calls took, and are expected to take if the network does not explain it; 0: the same.
  double call_s = 0.0;
  std::optional<BackgroundPlanning> plan{};  ///< on rank 0
};

/// The calls that share a schedule. Executors know schedules by their addresses.
struct PlannedCalls {
  PlanRequest request;
  std::unique_ptr<fairlead::collectives::Schedule> schedule;  ///< null: they are the MPI's own
  WatchedTimes times;
  int version = 0;     ///< of the network on which it was planned or compared last
  int num_probes = 0;  ///< of the communicator, when the network was looked at last for these calls
  std::optional<Planning> planning{};
  std::optional<Candidate> candidate{};
  /// What calls by this schedule took when the MPI's own were tried last, on the network on which
  /// it is predicted; 0: they were not.
  double compared_s = 0.0;
  /// Without a schedule: one may still begin.
  std::optional<UntimedRule> untimed{};

  /// Whether the next call is one by which ranks agree.
  [[nodiscard]] bool is_due() const {
    return candidate ? candidate->comparison.is_due() : times.is_due();
  }
  /// Whether the next call is timed: then it is added, else counted.
  [[nodiscard]] bool is_timed_next() const { return candidate || times.is_timed_next(); }
  void add(double call_s) {
    if (candidate) {
      candidate->comparison.add(call_s);
    } else {
      times.add(call_s);
    }
  }
  void count() { times.count(); }
  /// Whether the MPI's own calls may be faster by now than these, which take so long.
  [[nodiscard]] bool may_mpi_be_faster(double call_s, double max_ratio) const {
    const double usual_s = compared_s > 0 ? compared_s : schedule->predicted_s;
    return call_s > usual_s * (1 + max_ratio);
  }
  /// From the next call on another schedule is in use; null: the MPI's own calls.
  void replace(std::unique_ptr<fairlead::collectives::Schedule> next_schedule) {
    schedule = std::move(next_schedule);
    compared_s = 0.0;
  }
  /// On the network as it is now the schedule in use takes another time.
  void predict(double predicted_s) {
    schedule->predicted_s = predicted_s;
    times.restart(predicted_s);
    compared_s = 0.0;
  }
  /// What the next call follows, null for the MPI's own; to be asked once for each call.
  [[nodiscard]] const fairlead::collectives::Schedule* next() {
    const bool is_new = candidate && candidate->comparison.begin_call();
    return is_new ? candidate->schedule.get() : schedule.get();
  }
};

/// The watch of one communicator. Its functions are collective, at a call that the number of calls
/// decides, and throw MpiFailure.
class DriftWatch {
 public:
  /// All ranks agree on times. Calls that take longer than predicted are compared with the MPI's
  /// own, which are used from then on where they are faster. The MPI's own calls are compared with
  /// a schedule that was never timed, where that promises enough. Where times have drifted pairs
  /// are probed again, once for all calls of the communicator; if that explains it, a new schedule
  /// is planned while the program goes on, and replaces the old one only where it turns out faster.
  /// @pre calls.is_due()
  void check(PlannedCalls& calls, fairlead::collectives::Members& members,
             const SchedulePlanner& planner);

 private:
  void agree(PlannedCalls& calls, fairlead::collectives::Members& members,
             const SchedulePlanner& planner);
  void consider(PlannedCalls& calls, UntimedRule& untimed, fairlead::collectives::Members& members,
                const SchedulePlanner& planner);
  AgreedTimes agree_on_window(const PlannedCalls& calls, bool is_outdated,
                              fairlead::collectives::Members& members);
  static void take_untimed(PlannedCalls& calls, double native_s, Planning& planning,
                           const fairlead::collectives::Members& members);
  static void end_untimed(PlannedCalls& calls, Candidate& candidate, const PairTimes& times,
                          bool is_used, fairlead::collectives::Members& members);
  void check_network(PlannedCalls& calls, const AgreedTimes& agreed,
                     fairlead::collectives::Members& members, const SchedulePlanner& planner);
  void probe(fairlead::collectives::Members& members);
  static void take_plan(PlannedCalls& calls, Planning& planning,
                        const fairlead::collectives::Members& members);
  static void compare(PlannedCalls& calls, Candidate& candidate,
                      fairlead::collectives::Members& members, const SchedulePlanner& planner);

  int next_round_ = 0;
  int num_probes_ = 0;
  ProbedPairs probed_{};      ///< by all probes: one may not be long enough for all pairs
  double probe_s_ = 0.0;      ///< what the last one took; 0: there was none
  double agreement_s_ = 0.0;  ///< what the last one took; 0: there was none
};

}  // namespace fairlead::intercept
