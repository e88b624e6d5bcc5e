// SPDX-License-Identifier: Apache-2.0
#include "routing/trial_rule.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace fairlead::relay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::uint64_t kLargeBytes = TrialEstimates::kLargeBytes;
// No trial follows for this many times the expected time of the last one.
constexpr double kPauseRatio = 20.0;
// If the intervals of a program have been steady for this long, it does not fluctuate, and a
// comparison that fails now may have come slightly too early.
constexpr milliseconds kCalmTime{4000};
// The progress of a late message shows how long all of it takes, but a pause near its beginning
// does not.
constexpr std::uint64_t kMostTimes = 4;
// Where messages always overlap, their single times are unknown.
constexpr int kMaxInconclusive = 8;

milliseconds pause_after(double trial_s) {
  return duration_cast<milliseconds>(duration<double>(kPauseRatio * trial_s));
}

}  // namespace

TrialRule::TrialRule(const ModeRates& planned, Time now, bool is_rehearsal)
    : estimates_(planned, is_rehearsal),
      schedule_{.next_check = now + kCheckInterval,
                .next_comparison = now + kComparisonInterval,
                .last_comparison = now,
                .last_slowdown = now} {
  comparison_.pending.push_back(TransferMode::direct);
  // The plan has rates of relays, but none of several connections.
  if (estimates_.has_parallel()) comparison_.pending.push_back(TransferMode::parallel);
}

TransferMode TrialRule::next(std::uint64_t bytes, Time now) {
  begin_due_comparison(bytes, now);
  const Occasion occasion{.bytes = bytes, .now = now};
  const TrialEvent event =
      is_check_due(bytes, now) ? TrialEvent::check_due : TrialEvent::message_due;
  const TrialAction action = apply(event, occasion);
  if (action == TrialAction::send_next_trial) return send_trial(occasion);
  if (action == TrialAction::send_check) return send_check(occasion);
  return estimates_.best(bytes);
}

void TrialRule::begin_due_comparison(std::uint64_t bytes, Time now) {
  if (is_comparing()) return;
  const TransferMode taken = estimates_.best(bytes);
  const double trials_s = estimates_.expected_s(TransferMode::direct, bytes) +
                          estimates_.expected_s(TransferMode::relayed, bytes);
  const bool is_pause_over = taken == TransferMode::mpi || now >= schedule_.next_check;
  if (is_pause_over && estimates_.may_contention_be_over(bytes, now, pause_after(trials_s))) {
    apply(TrialEvent::contention_expired, {.now = now, .mode = taken});
    return;
  }
  const bool is_wanted = schedule_.is_comparison_requested ||
                         (taken == TransferMode::mpi && estimates_.may_mpi_be_slow(bytes));
  if (!is_wanted || !may_compare(now)) return;
  apply(TrialEvent::comparison_due, {.now = now, .mode = estimates_.best(kLargeBytes)});
}

bool TrialRule::is_check_due(std::uint64_t bytes, Time now) const {
  return state_ == TrialState::settled && now >= schedule_.next_check &&
         estimates_.best(bytes) != TransferMode::mpi;
}

TransferMode TrialRule::send_trial(const Occasion& occasion) {
  const TransferMode mode = comparison_.pending.front();
  comparison_.pending.pop_front();
  comparison_.under_way.push_back(mode);
  schedule_.is_postponed = false;
  if (comparison_.pending.empty()) apply(TrialEvent::trials_sent, occasion);
  return mode;
}

TransferMode TrialRule::send_check(const Occasion& occasion) {
  double trials_s = estimates_.expected_s(TransferMode::direct, occasion.bytes);
  const bool checks_relay =
      estimates_.best(occasion.bytes) == TransferMode::striped && estimates_.has_relay();
  if (checks_relay) trials_s += estimates_.expected_s(TransferMode::relayed, occasion.bytes);
  schedule_.next_check = occasion.now + std::max(schedule_.check_interval, pause_after(trials_s));
  schedule_.check_interval = std::min(2 * schedule_.check_interval, kLongestCheckInterval);
  schedule_.is_postponed = false;
  if (checks_relay) {
    comparison_.pending.push_back(TransferMode::relayed);
    apply(TrialEvent::undecided, occasion);
  }
  return TransferMode::direct;
}

std::optional<std::size_t> TrialRule::choose(std::span<PathState> paths, TransferMode mode,
                                             std::uint64_t bytes, Time now,
                                             std::optional<std::size_t>& /*taken*/) {
  // Where further connections add nothing they would only wait for each other.
  const bool may_take_all_connections = estimates_.is_parallel_faster(kLargeBytes);
  return paths_.choose(paths, mode, bytes, now, may_take_all_connections);
}

void TrialRule::learn(TransferMode mode, std::uint64_t bytes, double seconds, Time now) {
  if (mode == TransferMode::mpi) return;
  Occasion occasion{.bytes = bytes, .now = now, .mode = mode};
  const TransferMode taken = estimates_.best(bytes);
  const double known_s = estimates_.own_rate_s(taken, bytes);
  estimates_.learn(mode, bytes, seconds);
  if (mode == TransferMode::relayed) {
    if (estimates_.learn_contention(bytes, seconds, is_comparing(), now)) {
      apply(TrialEvent::contention_ends, occasion);
    }
    if (!is_comparing()) comparison_.num_inconclusive = 0;
  }
  end_trial(mode);
  const bool is_direct_faster = mode == TransferMode::direct && taken != TransferMode::mpi &&
                                TrialEstimates::kMargin * seconds < known_s;
  TrialEvent event = TrialEvent::sample;
  if (!is_comparing() && is_direct_faster) {
    estimates_.forget_mpi_intervals();
    occasion.mode = taken;
    event = TrialEvent::direct_faster;
  } else if (!is_comparing() && taken == TransferMode::mpi &&
             estimates_.is_direct_known_less(bytes)) {
    event = TrialEvent::direct_unsure;
  }
  apply(event, occasion);
}

void TrialRule::miss(TransferMode mode, std::uint64_t bytes, Time now) {
  const bool was_trial = end_trial(mode);
  if (is_comparing() ? !was_trial : mode != TransferMode::relayed) return;
  const bool is_silent = ++comparison_.num_inconclusive > kMaxInconclusive;
  const TrialEvent event =
      is_silent && !is_comparing() ? TrialEvent::relay_silent : TrialEvent::inconclusive;
  apply(event, {.bytes = bytes, .now = now, .mode = mode});
}

bool TrialRule::end_trial(TransferMode mode) {
  const auto found = std::ranges::find(comparison_.under_way, mode);
  if (found == comparison_.under_way.end()) return false;
  comparison_.under_way.erase(found);
  return true;
}

std::optional<TransferMode> TrialRule::leave_if_late(TransferMode mode, std::uint64_t bytes,
                                                     std::uint64_t arrived_bytes, double seconds,
                                                     Time now) {
  const bool is_direct = mode == TransferMode::direct || mode == TransferMode::parallel;
  if (!is_direct || !estimates_.has_relay() || seconds < estimates_.late_after_s(mode, bytes)) {
    return std::nullopt;
  }
  const double arrived_ratio =
      static_cast<double>(std::clamp(arrived_bytes, bytes / kMostTimes, bytes)) /
      static_cast<double>(bytes);
  estimates_.learn(mode, bytes, seconds / arrived_ratio);
  std::erase(comparison_.under_way, mode);
  const TrialEvent event =
      mode == TransferMode::parallel ? TrialEvent::parallel_late : TrialEvent::late;
  apply(event, {.bytes = bytes, .now = now, .mode = mode});
  const std::deque<TransferMode>& pending = comparison_.pending;
  const TransferMode next = pending.empty() ? estimates_.best(bytes) : pending.front();
  return next == TransferMode::relayed ? next : TransferMode::striped;
}

bool TrialRule::is_trying(TransferMode mode) const {
  return std::ranges::find(comparison_.under_way, mode) != comparison_.under_way.end();
}

void TrialRule::add_interval(TransferMode mode, double interval_s, Time now) {
  estimates_.add_interval(mode, interval_s);
  if (mode == TransferMode::mpi && estimates_.is_mpi_far_slower()) note_slowdown(now);
}

void TrialRule::note_slowdown(Time now) {
  apply(TrialEvent::slowdown, {.now = now});
}

void TrialRule::note_long_gap(Time now) {
  if (now - schedule_.last_comparison < kComparisonInterval) return;
  apply(TrialEvent::long_gap, {.now = now, .mode = estimates_.best(kLargeBytes)});
}

// Pauses that follow one another without a trial between them may be waits for a slow network.
bool TrialRule::resume(Time now) {
  if (std::exchange(schedule_.is_postponed, true)) return false;
  apply(TrialEvent::resumed, {.now = now});
  return true;
}

TrialAction TrialRule::apply(TrialEvent event, const Occasion& occasion) {
  const TrialStep step = step_of(state_, event);
  state_ = step.next;
  act(step.action, occasion);
  return step.action;
}

void TrialRule::act(TrialAction action, const Occasion& occasion) {
  switch (action) {
    case TrialAction::none:
    case TrialAction::send_in_best_mode:
    case TrialAction::send_next_trial:
    case TrialAction::send_check:
      return;
    case TrialAction::never:
      assert(false);
      return;
    case TrialAction::evaluate:
      return evaluate(occasion);
    case TrialAction::repeat_or_evaluate:
      return repeat_or_evaluate(occasion);
    case TrialAction::compare:
      return compare(occasion);
    case TrialAction::compare_direct:
      compare(occasion);
      comparison_.pending = {TransferMode::direct};
      return;
    case TrialAction::compare_at_once:
      return compare_at_once(occasion);
    case TrialAction::request_comparison:
      return request_comparison(occasion);
    case TrialAction::forget_relay:
      return estimates_.forget_relay(occasion.now);
    case TrialAction::forget_stripes:
      estimates_.forget_stripes();
      return pause_checks(occasion);
    case TrialAction::settle:
      return settle(occasion);
    case TrialAction::postpone_trials:
      return postpone_trials(occasion);
  }
}

void TrialRule::evaluate(const Occasion& occasion) {
  if (!comparison_.pending.empty() || !comparison_.under_way.empty()) return;
  estimates_.forget_old_contention(occasion.bytes, occasion.now);
  if (comparison_.num_inconclusive <= kMaxInconclusive) {
    comparison_.pending = estimates_.further_trials(occasion.bytes);
  }
  const bool is_decided = comparison_.pending.empty();
  apply(is_decided ? TrialEvent::decided : TrialEvent::undecided, occasion);
}

void TrialRule::repeat_or_evaluate(const Occasion& occasion) {
  const bool may_help = comparison_.num_inconclusive <= kMaxInconclusive;
  if (!may_help || estimates_.is_known(occasion.mode)) return evaluate(occasion);
  comparison_.pending.push_back(occasion.mode);
  apply(TrialEvent::undecided, occasion);
}

// While the MPI carries the messages the direct path is tried first. Usually it is as fast as
// before, and other ranks are late.
void TrialRule::compare(const Occasion& occasion) {
  const TransferMode former = occasion.mode;
  schedule_.is_comparison_requested = false;
  schedule_.last_comparison = occasion.now;
  schedule_.next_comparison = occasion.now + schedule_.comparison_interval;
  estimates_.begin_comparison(former, occasion.now);
  comparison_ = {.pending = {TransferMode::direct}, .former = former};
  if (former != TransferMode::mpi) comparison_.pending.push_front(former);
}

// The program has waited far longer for one message than a trial takes.
void TrialRule::compare_at_once(const Occasion& occasion) {
  const Time next = schedule_.next_comparison;
  compare(occasion);
  comparison_.is_after_long_gap = true;
  schedule_.next_comparison = std::max(next, occasion.now + kComparisonInterval);
}

void TrialRule::request_comparison(const Occasion& occasion) {
  const Time now = occasion.now;
  if (now - schedule_.last_slowdown > kCalmTime) {
    schedule_.comparison_interval = kComparisonInterval;
    schedule_.next_comparison = std::min(schedule_.next_comparison, now);
  }
  schedule_.last_slowdown = now;
  schedule_.is_comparison_requested = true;
  if (!may_compare(now)) return;
  apply(TrialEvent::comparison_due, {.now = now, .mode = estimates_.best(kLargeBytes)});
}

void TrialRule::settle(const Occasion& occasion) {
  std::chrono::milliseconds& interval = schedule_.comparison_interval;
  if (estimates_.best(occasion.bytes) != comparison_.former) {
    interval = kComparisonInterval;
  } else if (!comparison_.is_after_long_gap) {
    interval = std::min(2 * interval, kLongestComparisonInterval);
  }
  comparison_.num_inconclusive = 0;
  pause_checks(occasion);
}

// Until the direct path is tried.
void TrialRule::pause_checks(const Occasion& occasion) {
  const double trial_s = estimates_.expected_s(TransferMode::direct, occasion.bytes);
  schedule_.check_interval = kCheckInterval;
  schedule_.next_check = occasion.now + std::max(kCheckInterval, pause_after(trial_s));
}

void TrialRule::postpone_trials(const Occasion& occasion) {
  const bool has_under_way = !comparison_.under_way.empty();
  comparison_.pending.insert(comparison_.pending.begin(), comparison_.under_way.begin(),
                             comparison_.under_way.end());
  comparison_.under_way.clear();
  schedule_.next_check = std::max(schedule_.next_check, occasion.now + kCheckInterval);
  schedule_.next_comparison = std::max(schedule_.next_comparison, occasion.now + kCheckInterval);
  if (has_under_way && state_ == TrialState::settled) apply(TrialEvent::undecided, occasion);
}

}  // namespace fairlead::relay
