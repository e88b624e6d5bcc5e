// SPDX-License-Identifier: Apache-2.0
#include "collectives/drift_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "collectives/communicator_schedules.hpp"
#include "collectives/current_network.hpp"
#include "collectives/drift_counts.hpp"
#include "collectives/pair_probe.hpp"
#include "fairlead/collectives/planning.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "schedule_json.hpp"

namespace fairlead::intercept {
namespace {

namespace executors = fairlead::collectives;
using executors::Members;
using executors::Schedule;

/// Of a pair in both directions, until a probe has been timed: in a cloud.
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

/// Whether calls by the two send the same messages.
bool are_same(Schedule one, const Schedule& other) {
  one.predicted_s = other.predicted_s;
  one.lower_bound_s = other.lower_bound_s;
  return executors::write_schedule(one) == executors::write_schedule(other);
}

/// Plans on the network, and lets the new schedule compete if it is another one.
void challenge(PlannedCalls& calls, const Members& members, const SchedulePlanner& planner,
               const NetworkPlan& network, std::optional<ProbedPairs> probed) {
  auto schedule = planner.plan(members, calls.request, network);
  if (schedule != nullptr && !are_same(*schedule, *calls.schedule)) {
    calls.challenger = Challenger{.schedule = std::move(schedule), .probed = std::move(probed)};
    return;
  }
  if (schedule != nullptr) calls.schedule->predicted_s = schedule->predicted_s;
  calls.times.restart(calls.schedule->predicted_s);
}

void tell(const PlannedCalls& calls, const SchedulePlanner& planner, const PairTimes& times) {
  const Schedule& schedule = *calls.schedule;
  std::fprintf(stderr,
               "fairlead: %s of %llu bytes between %zu hosts follows a new schedule: a call took "
               "%.3g s by the old one, %.3g s by the new one\n",
               std::string(name_of(schedule.operation)).c_str(),
               static_cast<unsigned long long>(schedule.message_bytes), planner.hosts().size(),
               times.old_s, times.new_s);
}

}  // namespace

void DriftWatch::check(PlannedCalls& calls, Members& members, const SchedulePlanner& planner) {
  if (calls.challenger) {
    compare(calls, *calls.challenger, members, planner);
  } else {
    agree(calls, members, planner);
  }
}

void DriftWatch::agree(PlannedCalls& calls, Members& members, const SchedulePlanner& planner) {
  CurrentNetwork& network = current_network();
  const double begin_s = now_s();
  const double wait_s = network.wait_s(expected_probe_s(probe_s_, members.num_hosts()));
  const bool is_outdated = is_planner(members) && network.version() > calls.version;
  const AgreedTimes agreed = agree_on_times(members, calls.schedule->operation,
                                            {.call_s = calls.times.median_s(),
                                             .agreement_s = agreement_s_,
                                             .wait_s = wait_s,
                                             .is_outdated = is_outdated});
  agreement_s_ = now_s() - begin_s;
  const bool has_drifted = calls.times.has_drifted(agreed.call_s);
  count(members, {.calls = calls.times.num_calls(),
                  .windows = 1,
                  .drifts = has_drifted ? 1U : 0U,
                  .agreements_s = agreement_s_});
  calls.times.begin_window(agreed.agreement_s, agreed.call_s);
  if (agreed.is_outdated) {
    calls.version = network.version();
    challenge(calls, members, planner, network.select(planner.hosts()), std::nullopt);
    network.note_stop(now_s() - begin_s);
  } else if (has_drifted) {
    look_at_network(calls, agreed, members, planner);
  }
}

void DriftWatch::probe(Members& members) {
  const ProbedPairs found = probe_pairs(members, next_round_);
  next_round_ += found.num_rounds;
  ++num_probes_;
  probe_s_ = found.pause_s;
  probed_.add(found);
}

/// Takes a probe that other calls have led to, or probes the pairs. If the schedule takes another
/// time on what they do now, a new one is planned. Else the times have another reason; after a
/// probe of their own they are what to expect.
void DriftWatch::look_at_network(PlannedCalls& calls, const AgreedTimes& agreed, Members& members,
                                 const SchedulePlanner& planner) {
  const bool is_probed = calls.num_probes == num_probes_;
  if (is_probed && !agreed.may_probe) return;
  CurrentNetwork& network = current_network();
  const double begin_s = now_s();
  if (is_probed) probe(members);
  calls.num_probes = num_probes_;
  NetworkPlan now;
  double predicted_s = 0.0;
  if (is_planner(members)) {
    now = network.select_with(planner.hosts(), probed_);
    predicted_s = executors::predicted_s(now.measured(), *calls.schedule);
  }
  require_success(mpi().Bcast(&predicted_s, sizeof predicted_s, byte_type(), SchedulePlanner::kRank,
                              members.comm()));
  const double most = 1 + collectives_site().plan.drift.max_ratio;
  const double planned_s = calls.schedule->predicted_s;
  if (predicted_s > planned_s * most || predicted_s * most < planned_s) {
    challenge(calls, members, planner, now, probed_);
  } else if (is_probed) {
    calls.times.expect(agreed.call_s);
  }
  const double stop_s = now_s() - begin_s;
  network.note_stop(stop_s);
  count(members, {.probes = is_probed ? 1U : 0U, .longest_stop_s = stop_s});
}

void DriftWatch::compare(PlannedCalls& calls, Challenger& challenger, Members& members,
                         const SchedulePlanner& planner) {
  const PairTimes times = agree_on_pair(
      members, calls.schedule->operation,
      {.old_s = challenger.comparison.old_s(), .new_s = challenger.comparison.new_s()});
  CurrentNetwork& network = current_network();
  network.note_stop(std::max(0.0, times.new_s - times.old_s));
  const Verdict verdict = challenger.comparison.judge(times.old_s, times.new_s);
  if (verdict == Verdict::open) return;
  const bool is_replaced = verdict == Verdict::is_replaced;
  count(members, {.comparisons = 1, .replacements = is_replaced ? 1U : 0U});
  if (is_replaced) {
    if (challenger.probed) {
      network.keep(planner.hosts(), *challenger.probed);
      calls.version = network.version();
    }
    calls.schedule = std::move(challenger.schedule);
    if (is_planner(members)) tell(calls, planner, times);
  }
  calls.challenger.reset();
  // A later schedule may get the address of the one that is gone.
  members.forget();
  calls.times.restart(calls.schedule->predicted_s);
}

}  // namespace fairlead::intercept
