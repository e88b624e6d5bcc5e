// SPDX-License-Identifier: Apache-2.0
#include "collectives/drift_watch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "collectives/communicator_schedules.hpp"
#include "collectives/current_network.hpp"
#include "collectives/drift_counts.hpp"
#include "collectives/pair_probe.hpp"
#include "collectives/tried_schedules.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

namespace executors = fairlead::collectives;
using executors::Members;
using executors::Schedule;

/// What a pair takes in both directions, until a probe has been timed: in a cloud.
constexpr double kFirstPair_s = 0.03;

double expected_probe_s(double last_s, int num_hosts) {
  return last_s > 0 ? last_s : std::min(kLongestProbe_s, kFirstPair_s * (num_hosts - 1));
}

bool is_planner(const Members& members) {
  return members.rank() == SchedulePlanner::kRank;
}

void count(const Members& members, const DriftCounts& more) {
  if (is_planner(members)) count_drift(more);
}

/// On rank 0 the schedule is predicted on the network, and planned anew where its time moves.
/// @param network, min_ratio  read on rank 0 only
void begin_planning(Planning& planning, const PlannedCalls& calls, const Members& members,
                    const SchedulePlanner& planner, NetworkPlan network, double min_ratio) {
  if (!is_planner(members)) return;
  planning.plan.emplace(PlanningTask{.planner = planner,
                                     .request = calls.request,
                                     .network = std::move(network),
                                     .schedule = calls.schedule ? *calls.schedule : Schedule{},
                                     .min_ratio = min_ratio});
}

void print_replacement(const Schedule& old, bool is_by_mpi, const SchedulePlanner& planner,
                       const PairTimes& times) {
  std::fprintf(stderr,
               "fairlead: %s of %llu bytes between %zu hosts follows %s: a call took "
               "%.3g s by the old schedule, %.3g s by %s\n",
               std::string(name_of(old.operation)).c_str(),
               static_cast<unsigned long long>(old.message_bytes), planner.hosts().size(),
               is_by_mpi ? "no schedule any more" : "a new schedule", times.old_s, times.new_s,
               is_by_mpi ? "the MPI alone" : "the new one");
}

}  // namespace

void DriftWatch::check(PlannedCalls& calls, Members& members, const SchedulePlanner& planner) {
  if (calls.candidate) {
    compare(calls, *calls.candidate, members, planner);
  } else if (calls.untimed) {
    consider(calls, *calls.untimed, members, planner);
  } else {
    agree(calls, members, planner);
  }
}

void DriftWatch::agree(PlannedCalls& calls, Members& members, const SchedulePlanner& planner) {
  const CurrentNetwork& network = current_network();
  const bool is_outdated = is_planner(members) && network.version() > calls.version;
  const AgreedTimes agreed = agree_on_window(calls, is_outdated, members);
  const bool has_drifted = calls.times.has_drifted(agreed.call_s);
  count(members, {.calls = calls.times.num_calls(),
                  .windows = 1,
                  .drifts = has_drifted ? 1U : 0U,
                  .agreements_s = agreement_s_});
  calls.times.begin_window(agreed.agreement_s, agreed.call_s);
  if (calls.planning) {
    if (!agreed.is_planned) return;
    Planning planning = std::move(*calls.planning);
    calls.planning.reset();
    take_plan(calls, planning, members);
  } else if (calls.may_mpi_be_faster(agreed.call_s, collectives_state().plan.drift.max_ratio)) {
    // They cost no probe, and are compared at once.
    calls.compared_s = agreed.call_s;
    calls.candidate.emplace();
  } else if (agreed.is_outdated) {
    calls.version = network.version();
    begin_planning(calls.planning.emplace(), calls, members, planner,
                   network.select(planner.hosts()), 0.0);
    calls.times.shorten_window();
  } else if (has_drifted) {
    check_network(calls, agreed, members, planner);
  }
}

AgreedTimes DriftWatch::agree_on_window(const PlannedCalls& calls, bool is_outdated,
                                        Members& members) {
  const double begin_s = now_s();
  const double wait_s = current_network().wait_s(expected_probe_s(probe_s_, members.num_hosts()));
  const bool is_planned =
      calls.planning && calls.planning->plan && calls.planning->plan->is_ready();
  const AgreedTimes agreed = agree_on_times(members, calls.request.rule->operation,
                                            {.call_s = calls.times.median_s(),
                                             .agreement_s = agreement_s_,
                                             .wait_s = wait_s,
                                             .is_outdated = is_outdated,
                                             .is_planned = is_planned});
  agreement_s_ = now_s() - begin_s;
  return agreed;
}

/// The MPI's own calls were timed. After enough of them a schedule is planned.
void DriftWatch::consider(PlannedCalls& calls, UntimedRule& untimed, Members& members,
                          const SchedulePlanner& planner) {
  const AgreedTimes agreed = agree_on_window(calls, false, members);
  untimed.num_calls += calls.times.num_calls();
  untimed.native_s = agreed.call_s;
  count(members, {.calls = calls.times.num_calls(), .windows = 1, .agreements_s = agreement_s_});
  calls.times.begin_window(agreed.agreement_s, agreed.call_s);
  if (calls.planning) {
    if (!agreed.is_planned) {
      calls.times.shorten_window();
      return;
    }
    Planning planning = std::move(*calls.planning);
    calls.planning.reset();
    take_untimed(calls, untimed.native_s, planning, members);
  } else if (untimed.is_worth_planning()) {
    calls.version = current_network().version();
    begin_planning(calls.planning.emplace(), calls, members, planner,
                   current_network().select(planner.hosts()), 0.0);
    calls.times.shorten_window();
  }
}

/// What was planned is compared with the MPI's own calls if it promises enough.
void DriftWatch::take_untimed(PlannedCalls& calls, double native_s, Planning& planning,
                              const Members& members) {
  const double begin_s = now_s();
  Replanned found = planning.plan ? planning.plan->take() : Replanned{};
  auto schedule = SchedulePlanner::share(members, std::move(found.schedule));
  const double stop_s = now_s() - begin_s;
  current_network().add_stop(stop_s + found.planning_s);
  count(members, {.longest_stop_s = stop_s, .planning_s = found.planning_s});
  const double least_ratio = calls.request.rule->least_saved_ratio.value_or(0.0);
  if (schedule != nullptr && schedule->predicted_s < native_s * (1 - least_ratio)) {
    calls.candidate = Candidate{.schedule = std::move(schedule)};
    return;
  }
  if (schedule != nullptr && is_planner(members)) {
    record_tried({.request = calls.request,
                  .end = TrialEnd::unpromising,
                  .predicted_s = schedule->predicted_s,
                  .native_s = native_s});
  }
  calls.untimed.reset();
}

void DriftWatch::end_untimed(PlannedCalls& calls, Candidate& candidate, const PairTimes& times,
                             bool is_used, Members& members) {
  const double predicted_s = candidate.schedule->predicted_s;
  if (is_planner(members)) {
    record_tried({.request = calls.request,
                  .end = is_used ? TrialEnd::used : TrialEnd::slower,
                  .predicted_s = predicted_s,
                  .native_s = times.old_s,
                  .schedule_s = times.new_s});
  }
  if (is_used) {
    calls.replace(std::move(candidate.schedule));
    calls.compared_s = times.new_s;
    calls.times.restart(predicted_s);
  }
  calls.untimed.reset();
  calls.candidate.reset();
  // A later schedule may get the address of the one that is gone.
  members.forget();
}

void DriftWatch::probe(Members& members) {
  const ProbedPairs found = probe_pairs(members, next_round_);
  next_round_ += found.num_rounds;
  ++num_probes_;
  probe_s_ = found.pause_s;
  probed_.add(found);
}

/// Takes a probe that other calls have led to, or probes the pairs.
void DriftWatch::check_network(PlannedCalls& calls, const AgreedTimes& agreed, Members& members,
                               const SchedulePlanner& planner) {
  const bool is_probed = calls.num_probes == num_probes_;
  if (is_probed && !agreed.may_probe) return;
  CurrentNetwork& network = current_network();
  const double begin_s = now_s();
  if (is_probed) probe(members);
  calls.num_probes = num_probes_;
  Planning& planning = calls.planning.emplace();
  planning.probed = probed_;
  if (is_probed) planning.call_s = agreed.call_s;
  begin_planning(planning, calls, members, planner, network.select_with(planner.hosts(), probed_),
                 collectives_state().plan.drift.max_ratio);
  calls.times.shorten_window();
  const double stop_s = now_s() - begin_s;
  network.add_stop(stop_s);
  count(members, {.probes = is_probed ? 1U : 0U, .longest_stop_s = stop_s});
}

/// Without a core of its own the planning took its time from the program. If the schedule in use
/// takes another time on the network as it is now, another schedule competes with it. Else the
/// times have another reason; after a probe of their own they are what to expect.
void DriftWatch::take_plan(PlannedCalls& calls, Planning& planning, const Members& members) {
  const double begin_s = now_s();
  Replanned found = planning.plan ? planning.plan->take() : Replanned{};
  std::array outcome{found.predicted_s, found.has_moved ? 1.0 : 0.0};
  require_success(mpi().Bcast(outcome.data(), sizeof outcome, byte_type(), SchedulePlanner::kRank,
                              members.comm()));
  auto schedule = SchedulePlanner::share(members, std::move(found.schedule));
  const auto [predicted_s, has_moved] = outcome;
  if (schedule != nullptr) {
    calls.candidate =
        Candidate{.schedule = std::move(schedule), .probed = std::move(planning.probed)};
  } else if (has_moved > 0) {
    calls.predict(predicted_s);
  } else if (planning.call_s > 0) {
    calls.times.expect(planning.call_s);
  }
  const double stop_s = now_s() - begin_s;
  current_network().add_stop(stop_s + found.planning_s);
  count(members, {.longest_stop_s = stop_s, .planning_s = found.planning_s});
}

void DriftWatch::compare(PlannedCalls& calls, Candidate& candidate, Members& members,
                         const SchedulePlanner& planner) {
  const PairTimes times =
      agree_on_pair(members, calls.request.rule->operation,
                    {.old_s = candidate.comparison.old_s(), .new_s = candidate.comparison.new_s()});
  CurrentNetwork& network = current_network();
  network.add_stop(std::max(0.0, times.new_s - times.old_s));
  const Verdict verdict = candidate.comparison.judge(times.old_s, times.new_s);
  if (verdict == Verdict::open) return;
  const bool is_replaced = verdict == Verdict::is_replaced;
  const bool is_by_mpi = candidate.schedule == nullptr;
  count(members, {.comparisons = 1, .replacements = is_replaced ? 1U : 0U});
  if (calls.untimed) {
    end_untimed(calls, candidate, times, is_replaced, members);
    return;
  }
  if (is_replaced) {
    if (is_by_mpi && is_planner(members)) {
      record_tried({.request = calls.request,
                    .end = TrialEnd::left,
                    .predicted_s = calls.schedule->predicted_s,
                    .native_s = times.new_s,
                    .schedule_s = times.old_s});
    }
    if (is_planner(members)) print_replacement(*calls.schedule, is_by_mpi, planner, times);
    if (candidate.probed) {
      network.keep(planner.hosts(), *candidate.probed);
      calls.version = network.version();
    }
    calls.replace(std::move(candidate.schedule));
  }
  calls.candidate.reset();
  if (is_by_mpi && !is_replaced) {
    // What was expected still is: if times have drifted, the network is looked at next.
    calls.times.shorten_window();
    return;
  }
  // A later schedule may get the address of the one that is gone.
  members.forget();
  if (calls.schedule != nullptr) calls.times.restart(calls.schedule->predicted_s);
}

}  // namespace fairlead::intercept
