// SPDX-License-Identifier: Apache-2.0
#include "routing/trial_estimates.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fairlead::relay {
namespace {

// Number of messages in a mode that decide a comparison.
constexpr std::size_t kEnough = 3;
// Number of messages that decide in a rehearsal against relays that the plan prefers. Only the last
// three count, so two of them may have been late.
constexpr std::size_t kEnoughAgainstPlan = 5;
// A mode that is this many times as fast needs no further trials.
constexpr double kFarFaster = 2.0;
// The first message in a mode also opens its connections. A second message follows if the first
// took less than this many times the time of the direct path. The plan expects nothing of several
// connections, so there the first message must be no slower: where each connection is limited to a
// fifth or a tenth of an interface, eight carry far more than one.
constexpr double kFirstMessageRatio = 1.5;
constexpr double kFirstParallelRatio = 1.0;
// Where the plan expects nothing of relays, they are tried only when the direct path is this many
// times as slow as planned. At this factor the zone high of the rule `mcm` begins, too. A smaller
// factor may be due to the program's own messages to other hosts, which share the interface.
constexpr double kSlowPath = 4.0;
// A path that takes this many times its previous time has become slow.
constexpr double kBecameSlow = 1.5;
// A comparison that found no faster mode is repeated after the MPI has carried this many messages.
constexpr int kSteady = 10;
// A shorter message by a relay takes longer than its bytes do, so its time does not show load.
constexpr std::uint64_t kLeastBytesUnderLoad = std::uint64_t{256} << 10U;
// A message is late at the latest after this many times the planned time, also where messages
// usually take longer: the bytes that have arrived by then show enough of the direct path.
constexpr double kFarFromPlan = 8.0;

}  // namespace

TrialEstimates::TrialEstimates(const ModeRates& planned, bool is_rehearsal)
    : is_rehearsal_(is_rehearsal), rates_(planned), relay_under_load_(planned.relayed) {
  rates_.direct = planned.direct.preferred();
}

const ModeRate& TrialEstimates::rate_of(TransferMode mode) const {
  if (mode == TransferMode::striped) return rates_.striped;
  if (mode == TransferMode::relayed && rates_.relayed) return *rates_.relayed;
  return mode == TransferMode::parallel && rates_.parallel ? *rates_.parallel : rates_.direct;
}

ModeRate& TrialEstimates::rate_of(TransferMode mode) {
  return const_cast<ModeRate&>(std::as_const(*this).rate_of(mode));
}

double TrialEstimates::expected_s(TransferMode mode, std::uint64_t bytes) const {
  const ModeRate& rate = rate_of(mode);
  if (rate.num_learned() > 0 || rates_.direct.num_learned() == 0) return rate.expected_s(bytes);
  // The plan describes a network without load. What slows the direct path may slow all modes.
  const double slowed = rates_.direct.expected_s(bytes) / rates_.direct.planned_s(bytes);
  const double planned_s = std::max(1.0, slowed) * rate.expected_s(bytes);
  // All paths together are no slower than the best of them.
  const bool is_relay_known =
      mode == TransferMode::striped && rate_of(TransferMode::relayed).num_learned() > 0;
  return is_relay_known ? std::min(planned_s, rate_of(TransferMode::relayed).expected_s(bytes))
                        : planned_s;
}

// The planned time of one connection without load, if that is less than the current time. Where
// messages share an interface, eight connections take a greater share of it from the program's
// other messages, and carry no more in all.
double TrialEstimates::one_connection_s(std::uint64_t bytes) const {
  return std::min(rates_.direct.expected_s(bytes), rates_.direct.planned_s(bytes));
}

TransferMode TrialEstimates::best(std::uint64_t bytes) const {
  const TransferMode by_relays = load_.is_loaded() ? TransferMode::relayed : TransferMode::striped;
  const double relays_s = kMargin * expected_s(by_relays, bytes);
  if (is_parallel_faster(bytes)) {
    return relays_s < expected_s(TransferMode::parallel, bytes) ? by_relays
                                                                : TransferMode::parallel;
  }
  if (relays_s < rates_.direct.expected_s(bytes)) return by_relays;
  return is_program_faster_with_relays(by_relays, bytes) ? by_relays : TransferMode::mpi;
}

bool TrialEstimates::is_parallel_faster(std::uint64_t bytes) const {
  return rates_.parallel &&
         kMargin * expected_s(TransferMode::parallel, bytes) < one_connection_s(bytes);
}

// Relays that are slower than the direct path have not made it faster: other messages have.
bool TrialEstimates::is_program_faster_with_relays(TransferMode by_relays,
                                                   std::uint64_t bytes) const {
  return relays_intervals_.is_far_faster_than(mpi_intervals_) &&
         rate_of(by_relays).expected_s(bytes) < kMargin * rates_.direct.expected_s(bytes);
}

// If the intervals of a program stay the same, nothing else would show that the load of others has
// ended.
bool TrialEstimates::may_contention_be_over(std::uint64_t bytes, Time now,
                                            Clock::duration least) const {
  return load_.is_loaded() && !load_.is_known(now, least) &&
         kMargin * rates_.striped.planned_s(bytes) < expected_s(best(bytes), bytes);
}

// A comparison may have been wrong, since the first messages of a program are easily disturbed. A
// program that was slow from the start keeps its intervals, so these cause no new comparison.
// Therefore it is repeated where messages may take most of the time between two of them. Elsewhere
// a trial would cost more than it could save.
bool TrialEstimates::may_mpi_be_slow(std::uint64_t bytes) const {
  return num_by_mpi_ >= kSteady &&
         mpi_intervals_.is_slower_than(kSlowPath * rates_.direct.planned_s(bytes));
}

void TrialEstimates::add_interval(TransferMode mode, double interval_s) {
  if (mode == TransferMode::mpi) {
    mpi_intervals_.add(interval_s);
    ++num_by_mpi_;
    return;
  }
  routers_intervals_.add(interval_s);
  if (mode == TransferMode::striped || mode == TransferMode::relayed)
    relays_intervals_.add(interval_s);
}

// On a full link several paths together get a greater share than one path, at the cost of other
// jobs and of the program's own messages, and a relayed byte passes the link twice. So each job
// alone gains by stripes where all of them together lose. One path against another is a fair
// comparison (RFC 6356, section 1: to do no harm).
bool TrialEstimates::learn_contention(std::uint64_t bytes, double seconds, bool is_comparing,
                                      Time now) {
  if (!relay_under_load_ || bytes < kLeastBytesUnderLoad) return false;
  relay_under_load_->learn(bytes, seconds);
  const bool was_loaded = load_.is_loaded();
  const double times_of_plan =
      relay_under_load_->expected_s(bytes) / relay_under_load_->planned_s(bytes);
  load_.update(times_of_plan, is_comparing, now);
  is_load_old_ = false;
  return was_loaded && !load_.is_loaded();
}

// Connections are limited or not; only relays become better or worse.
void TrialEstimates::begin_comparison(TransferMode former, Time now) {
  // They are no faster than before, but may share the link that has become slow.
  if (rates_.parallel && (former == TransferMode::mpi || former == TransferMode::parallel))
    rates_.parallel->forget();
  is_load_old_ = load_.is_known(now);
  if (!is_load_old_) forget_relay(now);
  if (former != TransferMode::parallel) rates_.striped.forget();
  num_by_mpi_ = 0;
  relays_intervals_.forget();
  if (rates_.direct.num_learned() > 0) usual_direct_ = rates_.direct;
  rates_.direct.forget();
}

double TrialEstimates::late_after_s(TransferMode mode, std::uint64_t bytes) const {
  constexpr double kLeastLate_s = std::chrono::duration<double>(kLeastLate).count();
  const TransferMode taken = best(bytes);
  const bool is_by_relays = taken == TransferMode::striped || taken == TransferMode::relayed;
  if (is_by_relays && is_known(taken)) {
    return std::max(kLeastLate_s, kFarFaster * expected_s(taken, bytes));
  }
  const bool is_known_parallel = mode == TransferMode::parallel && is_known(mode);
  const double usual_s = is_known_parallel ? expected_s(mode, bytes)
                         : usual_direct_   ? usual_direct_->expected_s(bytes)
                                           : rates_.direct.planned_s(bytes);
  const double most_s = kFarFromPlan * rates_.direct.planned_s(bytes);
  return std::max(kLeastLate_s, std::min(kSlowPath * usual_s, most_s));
}

void TrialEstimates::forget_old_contention(std::uint64_t bytes, Time now) {
  if (is_load_old_ && is_slower_than_usual(bytes)) forget_relay(now);
}

void TrialEstimates::forget_relay(Time now) {
  is_load_old_ = false;
  load_.forget(now);
  if (rates_.relayed) rates_.relayed->forget();
  if (relay_under_load_) relay_under_load_->forget();
}

// A rehearsal is short, and its times cause no second comparison: relays would be judged by one
// late message. In programs that all send at the same time, further ones would cost the others more
// (bench/relay/many_jobs.py).
bool TrialEstimates::is_preferred_by_plan(TransferMode mode, std::uint64_t bytes) const {
  return is_rehearsal_ && mode != TransferMode::parallel &&
         kMargin * rate_of(mode).planned_s(bytes) < rates_.direct.planned_s(bytes);
}

bool TrialEstimates::may_be_faster(TransferMode mode, std::uint64_t bytes) const {
  const bool has_relay = mode != TransferMode::parallel;
  const std::size_t count = rate_of(mode).num_learned();
  if (has_relay && count == 0 && has_become_slow(bytes)) return true;
  if (is_preferred_by_plan(mode, bytes) && count < kEnoughAgainstPlan) return true;
  const double direct_s = has_relay ? rates_.direct.expected_s(bytes) : one_connection_s(bytes);
  const double ratio = direct_s / expected_s(mode, bytes);
  if (count != 1) return ratio > kMargin;
  return ratio >= 1.0 / (has_relay ? kFirstMessageRatio : kFirstParallelRatio);
}

bool TrialEstimates::needs_trial(TransferMode mode, std::uint64_t bytes) const {
  const bool is_slower = expected_s(mode, bytes) >= rates_.direct.expected_s(bytes);
  const bool is_against_plan = is_slower && is_preferred_by_plan(mode, bytes);
  const std::size_t enough = is_against_plan ? kEnoughAgainstPlan : kEnough;
  return rate_of(mode).num_learned() < enough && may_be_faster(mode, bytes);
}

bool TrialEstimates::is_direct_slow(std::uint64_t bytes) const {
  return rates_.direct.expected_s(bytes) > kSlowPath * rates_.direct.planned_s(bytes);
}

// If one relay is as fast as planned, the interface that all of them need is free.
bool TrialEstimates::is_contention_unknown(std::uint64_t bytes) const {
  if (!rates_.relayed || !may_be_faster(TransferMode::striped, bytes)) return false;
  return !is_known(TransferMode::relayed) ||
         (load_.is_loaded() && needs_trial(TransferMode::relayed, bytes));
}

double TrialEstimates::times_of_usual(std::uint64_t bytes) const {
  return usual_direct_ ? rates_.direct.expected_s(bytes) / usual_direct_->expected_s(bytes) : 1.0;
}

// One message that is somewhat late shows little.
bool TrialEstimates::is_slower_than_usual(std::uint64_t bytes) const {
  return times_of_usual(bytes) > (rates_.direct.num_learned() > 1 ? kBecameSlow : kSlowPath);
}

// It may be the direct path alone. Its very first message opens a connection.
bool TrialEstimates::has_become_slow(std::uint64_t bytes) const {
  const std::size_t count = rates_.direct.num_learned();
  if (count == 0) return false;
  if (is_direct_slow(bytes) && (count > 1 || usual_direct_)) return true;
  return is_slower_than_usual(bytes);
}

// Messages that overlap a trial go in its mode, so the mode may get more times than the trial
// needs. Then the first message of the direct path, which opens a connection, would be compared
// with the fastest of many.
bool TrialEstimates::is_direct_known_less(std::uint64_t bytes) const {
  const TransferMode taken = best(bytes);
  if (taken == TransferMode::mpi) return false;
  return rates_.direct.num_learned() < std::min(kEnough, rate_of(taken).num_learned());
}

std::deque<TransferMode> TrialEstimates::further_trials(std::uint64_t bytes) const {
  if (is_contention_unknown(bytes)) return {TransferMode::relayed};
  const TransferMode taken = best(bytes);
  const bool is_far = kFarFaster * expected_s(taken, bytes) < rates_.direct.expected_s(bytes);
  if (!is_far) return trials_of_candidates(bytes);
  if (is_known(taken)) return {};
  // By the plan alone. The first message opens connections.
  return {taken, taken};
}

std::deque<TransferMode> TrialEstimates::trials_of_candidates(std::uint64_t bytes) const {
  std::deque<TransferMode> trials;
  const TransferMode by_relays = load_.is_loaded() ? TransferMode::relayed : TransferMode::striped;
  if (rates_.parallel && needs_trial(TransferMode::parallel, bytes))
    trials.push_back(TransferMode::parallel);
  if (needs_trial(by_relays, bytes)) trials.push_back(by_relays);
  const std::size_t num_direct = rates_.direct.num_learned();
  if (!trials.empty()) {
    // Both modes are compared by the same number of messages.
    if (num_direct <= rate_of(trials.front()).num_learned())
      trials.push_front(TransferMode::direct);
    return trials;
  }
  const bool may_be_slow = is_direct_slow(bytes) || times_of_usual(bytes) > kBecameSlow;
  if ((num_direct == 1 && may_be_slow) || is_direct_known_less(bytes))
    return {TransferMode::direct};
  return {};
}

}  // namespace fairlead::relay
