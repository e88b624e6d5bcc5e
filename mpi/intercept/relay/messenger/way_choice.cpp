// SPDX-License-Identifier: Apache-2.0
#include "relay/messenger/way_choice.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::intercept::relay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// A trial is followed by so many times what it is expected to take.
constexpr double kPauseRatio = 20.0;
// So many messages of a way decide a comparison.
constexpr std::size_t kEnough = 3;
// The first message of a way also opens its connections: it is given a second one if it has taken
// less than so many times what the direct path takes. Of several connections, from which the plan
// expects nothing, the first message has to be no slower: where each is limited, to a fifth or a
// tenth of an interface, eight carry far more than one.
constexpr double kFirstMessageRatio = 1.5;
constexpr double kFirstParallelRatio = 1.0;
// Where the plan expects nothing of relays, the direct path has to be so many times as slow as
// planned before they are tried, as in MCM's highest zone: less may be the program's own messages
// to other hosts, which share the interface.
constexpr double kSlowPath = 4.0;
// A path that takes so many times what it took before has become slow.
constexpr double kBecameSlow = 1.5;
// The MPI has carried so many messages before a comparison is made again that found nothing.
constexpr int kSteady = 10;
// A program that has kept its pace for so long does not fluctuate: a comparison that fails now may
// have come a moment too early.
constexpr milliseconds kCalmTime{4000};
// Shorter messages by a relay take more than their bytes do, which tells nothing of load.
constexpr std::uint64_t kLeastBytesUnderLoad = std::uint64_t{256} << 10U;
// Nor is it later than so many times what is planned, also where it usually takes longer: what has
// arrived by then tells enough of the direct path.
constexpr double kFarFromPlan = 8.0;
// A late part says how long the whole message takes, but a pause near its beginning does not.
constexpr std::uint64_t kMostTimes = 4;
// Where messages overlap all the time, what they take cannot be distinguished.
constexpr int kMaxMissed = 8;

milliseconds pause_after(double trial_s) {
  return duration_cast<milliseconds>(duration<double>(kPauseRatio * trial_s));
}

}  // namespace

WayRate WayRate::preferred() const {
  WayRate same = *this;
  same.is_preferred_ = true;
  return same;
}

void WayRate::learn(std::uint64_t bytes, double seconds) {
  // A small message is mostly latency, which says nothing of the rate.
  const double busy_s = std::max({seconds - latency_s_, 0.25 * seconds, 1e-6});
  last_Bps_[num_learned_ % last_Bps_.size()] = static_cast<double>(bytes) / busy_s;
  ++num_learned_;
}

double WayRate::expected_s(std::uint64_t bytes) const {
  return latency_s_ + static_cast<double>(bytes) / rate_Bps();
}

double WayRate::planned_s(std::uint64_t bytes) const {
  return latency_s_ + static_cast<double>(bytes) / planned_Bps_;
}

double WayRate::rate_Bps() const {
  if (num_learned_ == 0) return planned_Bps_;
  auto known = last_Bps_;
  const std::size_t count = std::min(num_learned_, known.size());
  std::sort(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(count));
  return is_preferred_ || count < known.size() ? known[count - 1] : known[count / 2];
}

bool Pace::is_slower_than(double gap_s) const {
  return is_known() && std::ranges::min(gaps_s_) > gap_s;
}

bool Pace::is_far_faster_than(const Pace& other) const {
  return is_known() && other.is_known() &&
         WayChoice::kFarFaster * std::ranges::max(gaps_s_) < std::ranges::min(other.gaps_s_);
}

WayChoice::WayChoice(const WayRates& planned, Time now)
    : rates_(planned),
      next_direct_(now + kTrialInterval),
      next_comparison_(now + kComparisonInterval),
      last_comparison_(now),
      last_slowdown_(now) {
  rates_.direct = planned.direct.preferred();
  relay_under_load_ = planned.relayed;
  trials_.push_back(Way::direct);
  // The plan says something of relays, and nothing of several connections.
  if (rates_.parallel) trials_.push_back(Way::parallel);
}

const WayRate& WayChoice::rate_of(Way way) const {
  if (way == Way::striped) return rates_.striped;
  if (way == Way::relayed && rates_.relayed) return *rates_.relayed;
  return way == Way::parallel && rates_.parallel ? *rates_.parallel : rates_.direct;
}

WayRate& WayChoice::rate_of(Way way) {
  return const_cast<WayRate&>(std::as_const(*this).rate_of(way));
}

Way WayChoice::next(std::uint64_t bytes, Time now) {
  if (!is_comparing_) {
    const Way former = best(bytes);
    const bool is_pause_over = former == Way::mpi || now >= next_direct_;
    if (is_pause_over && may_load_be_over(bytes, now)) {
      compare(former, now);
    } else if (may_have_changed_ || (former == Way::mpi && may_mpi_be_slow(bytes))) {
      compare_if_due(now);
    }
  }
  if (!trials_.empty()) {
    const Way trial = trials_.front();
    trials_.pop_front();
    begun_.push_back(trial);
    return trial;
  }
  const Way taken = best(bytes);
  if (taken == Way::mpi || is_comparing_ || now < next_direct_) return taken;
  double trials_s = rates_.direct.expected_s(bytes);
  if (taken == Way::striped && rates_.relayed) {
    trials_.push_back(Way::relayed);
    trials_s += expected_s(Way::relayed, bytes);
  }
  next_direct_ = now + std::max(direct_interval_, pause_after(trials_s));
  direct_interval_ = std::min(2 * direct_interval_, kLongestTrialInterval);
  return Way::direct;
}

double WayChoice::expected_s(Way way, std::uint64_t bytes) const {
  const WayRate& rate = rate_of(way);
  if (rate.num_learned() > 0 || rates_.direct.num_learned() == 0) return rate.expected_s(bytes);
  // The plan is of a network without load; what slows the direct path may slow all ways.
  const double slowed = rates_.direct.expected_s(bytes) / rates_.direct.planned_s(bytes);
  const double planned_s = std::max(1.0, slowed) * rate.expected_s(bytes);
  // All paths together are no slower than the best of them.
  const bool is_relay_known = way == Way::striped && rate_of(Way::relayed).num_learned() > 0;
  return is_relay_known ? std::min(planned_s, rate_of(Way::relayed).expected_s(bytes)) : planned_s;
}

// What one connection takes without load, by the plan, if that is less than now: where messages
// share an interface, eight connections take a greater share of it, from the program's own others,
// and carry no more in all.
double WayChoice::one_connection_s(std::uint64_t bytes) const {
  return std::min(rates_.direct.expected_s(bytes), rates_.direct.planned_s(bytes));
}

// Relays have to be better than several connections by the margin: they load third hosts.
Way WayChoice::best(std::uint64_t bytes) const {
  const Way by_relays = load_.is_loaded() ? Way::relayed : Way::striped;
  const double relays_s = kMargin * expected_s(by_relays, bytes);
  if (is_parallel_faster(bytes)) {
    return relays_s < expected_s(Way::parallel, bytes) ? by_relays : Way::parallel;
  }
  if (relays_s < rates_.direct.expected_s(bytes)) return by_relays;
  return is_program_faster_with_relays(by_relays, bytes) ? by_relays : Way::mpi;
}

// A program that keeps its pace on the way that it takes would never find that others have gone.
bool WayChoice::may_load_be_over(std::uint64_t bytes, Time now) const {
  const double trials_s = rates_.direct.expected_s(bytes) + expected_s(Way::relayed, bytes);
  return load_.is_loaded() && !load_.is_known(now, pause_after(trials_s)) &&
         kMargin * rates_.striped.planned_s(bytes) < expected_s(best(bytes), bytes);
}

// A comparison may have been wrong, disturbed as the first messages of a program are, and a program
// that has been slow from its beginning keeps its pace. So it is made again where messages may be
// what takes the time between two of them: else a trial would cost more than it could save.
bool WayChoice::may_mpi_be_slow(std::uint64_t bytes) const {
  return num_by_mpi_ >= kSteady &&
         mpi_pace_.is_slower_than(kSlowPath * rates_.direct.planned_s(bytes));
}

// Relays that are slower than the direct path have not made it faster: other messages have.
bool WayChoice::is_program_faster_with_relays(Way by_relays, std::uint64_t bytes) const {
  return relays_pace_.is_far_faster_than(mpi_pace_) &&
         rate_of(by_relays).expected_s(bytes) < kMargin * rates_.direct.expected_s(bytes);
}

void WayChoice::pace(Way way, double gap_s, Time now) {
  if (way == Way::mpi) {
    mpi_pace_.note(gap_s);
    ++num_by_mpi_;
    if (routers_pace_.is_far_faster_than(mpi_pace_)) note_slowdown(now);
    return;
  }
  routers_pace_.note(gap_s);
  if (way == Way::striped || way == Way::relayed) relays_pace_.note(gap_s);
}

bool WayChoice::is_parallel_faster(std::uint64_t bytes) const {
  return rates_.parallel && kMargin * expected_s(Way::parallel, bytes) < one_connection_s(bytes);
}

void WayChoice::learn(Way way, std::uint64_t bytes, double seconds, Time now) {
  if (way == Way::mpi) return;
  const Way taken = best(bytes);
  const double known_s = rate_of(taken).expected_s(bytes);
  rate_of(way).learn(bytes, seconds);
  if (way == Way::relayed) {
    learn_load(bytes, seconds, now);
    if (!is_comparing_) num_missed_ = 0;
  }
  end_trial(way);
  if (is_comparing_) {
    go_on(bytes, now);
  } else if (way == Way::direct && taken != Way::mpi && kMargin * seconds < known_s) {
    mpi_pace_.forget();
    compare(taken, now);
  } else if (taken == Way::mpi && is_direct_known_less(bytes)) {
    is_comparing_ = true;
    go_on(bytes, now);
  }
}

// Several paths together take a greater share of what is full than one does, from other jobs and
// the program's own messages, and a relayed byte passes it twice. So each job alone gains by
// stripes where all of them together lose. One path against another is a fair comparison (RFC
// 6356, section 1: to do no harm).
void WayChoice::learn_load(std::uint64_t bytes, double seconds, Time now) {
  if (!relay_under_load_ || bytes < kLeastBytesUnderLoad) return;
  relay_under_load_->learn(bytes, seconds);
  const bool was_loaded = load_.is_loaded();
  const double times_of_plan =
      relay_under_load_->expected_s(bytes) / relay_under_load_->planned_s(bytes);
  load_.note(times_of_plan, is_comparing_, now);
  is_load_old_ = false;
  if (!was_loaded || load_.is_loaded()) return;
  // What all paths took was under load, too. The load may be their own.
  rates_.striped.forget();
  pause_trials(bytes, now);
}

// Until the direct path is tried.
void WayChoice::pause_trials(std::uint64_t bytes, Time now) {
  direct_interval_ = kTrialInterval;
  next_direct_ = now + std::max(direct_interval_, pause_after(rates_.direct.expected_s(bytes)));
}

bool WayChoice::end_trial(Way way) {
  const auto found = std::ranges::find(begun_, way);
  if (found == begun_.end()) return false;
  begun_.erase(found);
  return true;
}

void WayChoice::miss(Way way, std::uint64_t bytes, Time now) {
  const bool was_trial = end_trial(way);
  if (!is_comparing_ && way == Way::relayed) {
    // It may have ended.
    if (++num_missed_ > kMaxMissed) forget_relay(now);
  } else if (is_comparing_ && was_trial) {
    ++num_missed_;
    if (num_missed_ <= kMaxMissed && rate_of(way).num_learned() == 0) trials_.push_back(way);
    go_on(bytes, now);
  }
}

void WayChoice::note_slowdown(Time now) {
  if (now - last_slowdown_ > kCalmTime) {
    comparison_interval_ = kComparisonInterval;
    next_comparison_ = std::min(next_comparison_, now);
  }
  last_slowdown_ = now;
  may_have_changed_ = true;
  compare_if_due(now);
}

void WayChoice::note_long_gap(Time now) {
  if (is_comparing_ || !trials_.empty() || now - last_comparison_ < kComparisonInterval) return;
  const Time next = next_comparison_;
  compare(best(kLargeBytes), now);
  is_after_long_gap_ = true;
  next_comparison_ = std::max(next, now + kComparisonInterval);
}

void WayChoice::compare_if_due(Time now) {
  if (trials_.empty() && now >= next_comparison_) compare(best(kLargeBytes), now);
}

// Connections are limited or not; only relays become better or worse. While the MPI carries the
// messages the direct path is tried first: mostly it is as before, and other ranks are late.
void WayChoice::compare(Way former, Time now) {
  is_comparing_ = true;
  may_have_changed_ = false;
  is_after_long_gap_ = false;
  last_comparison_ = now;
  former_ = former;
  next_comparison_ = now + comparison_interval_;
  // They are no faster than they were, but may share what has become slow.
  if (rates_.parallel && (former == Way::mpi || former == Way::parallel)) rates_.parallel->forget();
  is_load_old_ = load_.is_known(now);
  if (!is_load_old_) forget_relay(now);
  if (former != Way::parallel) rates_.striped.forget();
  num_by_mpi_ = 0;
  relays_pace_.forget();
  if (rates_.direct.num_learned() > 0) usual_direct_ = rates_.direct;
  rates_.direct.forget();
  trials_ = {Way::direct};
  if (former != Way::mpi) trials_.push_front(former);
  begun_.clear();
  num_missed_ = 0;
}

// By relays it would have arrived, or the direct path has become slow.
double WayChoice::late_after_s(Way way, std::uint64_t bytes) const {
  const Way taken = best(bytes);
  const bool is_by_relays = taken == Way::striped || taken == Way::relayed;
  if (is_by_relays && rate_of(taken).num_learned() > 0) {
    return std::max(duration<double>(kLeastLate).count(), kFarFaster * expected_s(taken, bytes));
  }
  const bool is_known_parallel = way == Way::parallel && rate_of(way).num_learned() > 0;
  const double usual_s = is_known_parallel ? expected_s(way, bytes)
                         : usual_direct_   ? usual_direct_->expected_s(bytes)
                                           : rates_.direct.planned_s(bytes);
  const double most_s = kFarFromPlan * rates_.direct.planned_s(bytes);
  return std::max(duration<double>(kLeastLate).count(), std::min(kSlowPath * usual_s, most_s));
}

std::optional<Way> WayChoice::leave_if_late(Way way, std::uint64_t bytes,
                                            std::uint64_t arrived_bytes, double seconds, Time now) {
  const bool is_direct = way == Way::direct || way == Way::parallel;
  if (!is_direct || !rates_.relayed || seconds < late_after_s(way, bytes)) return std::nullopt;
  const double arrived_ratio =
      static_cast<double>(std::clamp(arrived_bytes, bytes / kMostTimes, bytes)) /
      static_cast<double>(bytes);
  rate_of(way).learn(bytes, seconds / arrived_ratio);
  std::erase(begun_, way);
  if (is_comparing_) {
    go_on(bytes, now);
  } else if (way == Way::parallel) {
    // They share the direct path, which may have become slow, or not.
    compare(way, now);
    trials_ = {Way::direct};
  }
  const Way next = trials_.empty() ? best(bytes) : trials_.front();
  return next == Way::relayed ? next : Way::striped;
}

void WayChoice::forget_relay(Time now) {
  is_load_old_ = false;
  load_.forget(now);
  if (rates_.relayed) rates_.relayed->forget();
  if (relay_under_load_) relay_under_load_->forget();
}

bool WayChoice::may_be_faster(Way way, std::uint64_t bytes) const {
  const bool has_relay = way != Way::parallel;
  const std::size_t count = rate_of(way).num_learned();
  if (has_relay && count == 0 && has_become_slow(bytes)) return true;
  const double direct_s = has_relay ? rates_.direct.expected_s(bytes) : one_connection_s(bytes);
  const double ratio = direct_s / expected_s(way, bytes);
  if (count != 1) return ratio > kMargin;
  return ratio >= 1.0 / (has_relay ? kFirstMessageRatio : kFirstParallelRatio);
}

bool WayChoice::is_direct_slow(std::uint64_t bytes) const {
  return rates_.direct.expected_s(bytes) > kSlowPath * rates_.direct.planned_s(bytes);
}

// Where one relay is as fast as planned, what all of them need is free.
bool WayChoice::is_load_unknown(std::uint64_t bytes) const {
  if (!rates_.relayed || !may_be_faster(Way::striped, bytes)) return false;
  const std::size_t count = rates_.relayed->num_learned();
  if (count == 0) return true;
  return load_.is_loaded() && count < kEnough && may_be_faster(Way::relayed, bytes);
}

double WayChoice::times_of_usual(std::uint64_t bytes) const {
  return usual_direct_ ? rates_.direct.expected_s(bytes) / usual_direct_->expected_s(bytes) : 1.0;
}

// One message that is somewhat late tells little.
bool WayChoice::is_slower_than_usual(std::uint64_t bytes) const {
  return times_of_usual(bytes) > (rates_.direct.num_learned() > 1 ? kBecameSlow : kSlowPath);
}

// It may be the direct path alone. Its very first message opens a connection.
bool WayChoice::has_become_slow(std::uint64_t bytes) const {
  const std::size_t count = rates_.direct.num_learned();
  if (count == 0) return false;
  if (is_direct_slow(bytes) && (count > 1 || usual_direct_)) return true;
  return is_slower_than_usual(bytes);
}

// Messages that overlap a trial go its way, and may tell more of it than was asked for: the first
// message of the direct path, which opens a connection, would be judged by the fastest of theirs.
bool WayChoice::is_direct_known_less(std::uint64_t bytes) const {
  const Way taken = best(bytes);
  if (taken == Way::mpi) return false;
  return rates_.direct.num_learned() < std::min(kEnough, rate_of(taken).num_learned());
}

void WayChoice::go_on(std::uint64_t bytes, Time now) {
  if (!trials_.empty() || !begun_.empty()) return;
  if (is_load_old_ && is_slower_than_usual(bytes)) forget_relay(now);
  const Way taken = best(bytes);
  const bool is_far = kFarFaster * expected_s(taken, bytes) < rates_.direct.expected_s(bytes);
  const auto add = [&](Way way) {
    if (rate_of(way).num_learned() < kEnough && may_be_faster(way, bytes)) trials_.push_back(way);
  };
  const bool is_given_up = num_missed_ > kMaxMissed;
  if (!is_given_up && is_load_unknown(bytes)) {
    trials_ = {Way::relayed};
  } else if (!is_given_up && is_far && rate_of(taken).num_learned() == 0) {
    // By the plan alone. The first message opens connections.
    trials_ = {taken, taken};
  } else if (!is_given_up && !is_far) {
    if (rates_.parallel) add(Way::parallel);
    add(load_.is_loaded() ? Way::relayed : Way::striped);
    // Both are judged by the same number of messages.
    if (!trials_.empty() && rates_.direct.num_learned() <= rate_of(trials_.front()).num_learned()) {
      trials_.push_front(Way::direct);
    }
    if (trials_.empty() && rates_.direct.num_learned() == 1 &&
        (is_direct_slow(bytes) || times_of_usual(bytes) > kBecameSlow)) {
      trials_.push_back(Way::direct);
    }
    if (trials_.empty() && is_direct_known_less(bytes)) trials_.push_back(Way::direct);
  }
  if (!trials_.empty()) return;
  is_comparing_ = false;
  if (taken != former_) {
    comparison_interval_ = kComparisonInterval;
  } else if (!is_after_long_gap_) {
    comparison_interval_ = std::min(2 * comparison_interval_, kLongestComparisonInterval);
  }
  num_missed_ = 0;
  pause_trials(bytes, now);
}

void WayChoice::postpone_trials(Time now) {
  trials_.insert(trials_.begin(), begun_.begin(), begun_.end());
  begun_.clear();
  next_direct_ = std::max(next_direct_, now + kTrialInterval);
  next_comparison_ = std::max(next_comparison_, now + kTrialInterval);
}

}  // namespace fairlead::intercept::relay
