// SPDX-License-Identifier: Apache-2.0
#include "relay/messenger/way_choice.hpp"

#include <algorithm>

namespace fairlead::intercept::relay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// A trial is followed by so many times what it is expected to take.
constexpr double kRestRatio = 20.0;
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
// Where messages overlap all the time, what they take cannot be told apart.
constexpr int kMaxMissed = 8;
// What holds for such a message is taken to hold for all.
constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20U;

milliseconds rest_after(double trial_s) {
  return duration_cast<milliseconds>(duration<double>(kRestRatio * trial_s));
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

WayChoice::WayChoice(WayRate direct, WayRate striped, Time now,
                     const std::optional<WayRate>& parallel)
    : direct_(direct.preferred()),
      striped_(striped),
      parallel_(parallel),
      next_direct_(now + kTrialInterval),
      next_comparison_(now + kComparisonInterval) {
  trials_.push_back(Way::direct);
  // The plan says something of relays, and nothing of several connections.
  if (parallel_) trials_.push_back(Way::parallel);
}

WayRate& WayChoice::rate_of(Way way) {
  if (way == Way::striped) return striped_;
  return way == Way::parallel && parallel_ ? *parallel_ : direct_;
}

Way WayChoice::next(std::uint64_t bytes, Time now) {
  if (!is_comparing_ && may_mpi_be_slow(bytes) && best(bytes) == Way::mpi) doubt(now);
  if (!trials_.empty()) {
    const Way trial = trials_.front();
    trials_.pop_front();
    begun_.push_back(trial);
    return trial;
  }
  const Way taken = best(bytes);
  if (taken == Way::mpi || is_comparing_ || now < next_direct_) return taken;
  next_direct_ = now + std::max(direct_interval_, rest_after(direct_.expected_s(bytes)));
  direct_interval_ = std::min(2 * direct_interval_, kLongestTrialInterval);
  return Way::direct;
}

double WayChoice::expected_s(const WayRate& rate, std::uint64_t bytes) const {
  if (rate.num_learned() > 0 || direct_.num_learned() == 0) return rate.expected_s(bytes);
  // The plan is of a network without load; what slows the direct path may slow all ways.
  const double slowed = direct_.expected_s(bytes) / direct_.planned_s(bytes);
  return std::max(1.0, slowed) * rate.expected_s(bytes);
}

// What one connection takes without load, by the plan, if that is less than now: where messages
// share an interface, eight connections take a greater share of it, from the program's own others,
// and carry no more in all.
double WayChoice::one_connection_s(std::uint64_t bytes) const {
  return std::min(direct_.expected_s(bytes), direct_.planned_s(bytes));
}

// Relays have to be better than several connections by the margin: they load third hosts.
Way WayChoice::best(std::uint64_t bytes) const {
  const double direct_s = direct_.expected_s(bytes);
  const double striped_s = kMargin * expected_s(striped_, bytes);
  if (parallel_) {
    const double parallel_s = expected_s(*parallel_, bytes);
    if (kMargin * parallel_s < one_connection_s(bytes))
      return striped_s < parallel_s ? Way::striped : Way::parallel;
  }
  const bool is_worth = striped_s < direct_s || is_program_faster_with_relays(bytes);
  return is_worth ? Way::striped : Way::mpi;
}

// A comparison may have been wrong, disturbed as the first messages of a program are, and a program
// that has been slow from its beginning keeps its pace. So it is made again where messages may be
// what takes the time between two of them: else a trial would cost more than it could save.
bool WayChoice::may_mpi_be_slow(std::uint64_t bytes) const {
  return num_by_mpi_ >= kSteady && mpi_pace_.is_slower_than(kSlowPath * direct_.planned_s(bytes));
}

// Relays that are slower than the direct path have not made it faster: other messages have.
bool WayChoice::is_program_faster_with_relays(std::uint64_t bytes) const {
  return striped_pace_.is_far_faster_than(mpi_pace_) &&
         striped_.expected_s(bytes) < kMargin * direct_.expected_s(bytes);
}

void WayChoice::pace(Way way, double gap_s, Time now) {
  if (way == Way::mpi) {
    mpi_pace_.note(gap_s);
    ++num_by_mpi_;
    if (routers_pace_.is_far_faster_than(mpi_pace_)) doubt(now);
    return;
  }
  routers_pace_.note(gap_s);
  if (way == Way::striped) striped_pace_.note(gap_s);
}

bool WayChoice::is_parallel_faster() const {
  return parallel_ && kMargin * parallel_->expected_s(kLargeBytes) < one_connection_s(kLargeBytes);
}

void WayChoice::learn(Way way, std::uint64_t bytes, double seconds, Time now) {
  if (way == Way::mpi) return;
  const Way taken = best(bytes);
  const double known_s = rate_of(taken).expected_s(bytes);
  rate_of(way).learn(bytes, seconds);
  if (is_comparing_) {
    end_trial(way);
    go_on(bytes, now);
  } else if (way == Way::direct && taken != Way::mpi && kMargin * seconds < known_s) {
    mpi_pace_.forget();
    compare(taken, now);
  }
}

bool WayChoice::end_trial(Way way) {
  const auto found = std::ranges::find(begun_, way);
  if (found == begun_.end()) return false;
  begun_.erase(found);
  return true;
}

void WayChoice::miss(Way way, std::uint64_t bytes, Time now) {
  if (!is_comparing_ || !end_trial(way)) return;
  if (rate_of(way).num_learned() == 0 && ++num_missed_ <= kMaxMissed) trials_.push_back(way);
  go_on(bytes, now);
}

void WayChoice::doubt(Time now) {
  if (!trials_.empty() || now < next_comparison_) return;
  compare(best(kLargeBytes), now);
}

// Connections are limited or not; only relays become better or worse. While the MPI carries the
// messages the direct path is tried first: mostly it is as before, and other ranks are late.
void WayChoice::compare(Way former, Time now) {
  is_comparing_ = true;
  former_ = former;
  next_comparison_ = now + comparison_interval_;
  const Way other = former == Way::parallel ? Way::parallel : Way::striped;
  rate_of(other).forget();
  num_by_mpi_ = 0;
  striped_pace_.forget();
  if (direct_.num_learned() > 0) usual_direct_ = direct_;
  direct_.forget();
  trials_ = {Way::direct};
  if (former != Way::mpi) {
    trials_.push_front(other);
  } else if (parallel_) {
    // They were no faster, and share what may have become slow.
    parallel_->forget();
  }
  begun_.clear();
  num_missed_ = 0;
}

bool WayChoice::may_be_faster(const WayRate& rate, std::uint64_t bytes) const {
  const bool is_striped = &rate == &striped_;
  if (is_striped && rate.num_learned() == 0 && has_become_slow(bytes)) return true;
  const double direct_s = is_striped ? direct_.expected_s(bytes) : one_connection_s(bytes);
  const double ratio = direct_s / expected_s(rate, bytes);
  if (rate.num_learned() != 1) return ratio > kMargin;
  return ratio >= 1.0 / (is_striped ? kFirstMessageRatio : kFirstParallelRatio);
}

bool WayChoice::is_direct_slow(std::uint64_t bytes) const {
  return direct_.expected_s(bytes) > kSlowPath * direct_.planned_s(bytes);
}

double WayChoice::times_of_usual(std::uint64_t bytes) const {
  return usual_direct_ ? direct_.expected_s(bytes) / usual_direct_->expected_s(bytes) : 1.0;
}

// It may be the direct path alone. Its very first message opens a connection, and one that is
// somewhat late tells little.
bool WayChoice::has_become_slow(std::uint64_t bytes) const {
  const std::size_t count = direct_.num_learned();
  if (count == 0) return false;
  if (is_direct_slow(bytes) && (count > 1 || usual_direct_)) return true;
  return times_of_usual(bytes) > (count > 1 ? kBecameSlow : kSlowPath);
}

void WayChoice::go_on(std::uint64_t bytes, Time now) {
  if (!trials_.empty() || !begun_.empty()) return;
  const Way taken = best(bytes);
  const bool is_far = kFarFaster * expected_s(rate_of(taken), bytes) < direct_.expected_s(bytes);
  const auto add = [&](Way way) {
    const WayRate& rate = rate_of(way);
    if (rate.num_learned() < kEnough && may_be_faster(rate, bytes)) trials_.push_back(way);
  };
  const bool is_given_up = num_missed_ > kMaxMissed;
  if (!is_given_up && is_far && rate_of(taken).num_learned() == 0) {
    // By the plan alone. The first message opens connections.
    trials_ = {taken, taken};
  } else if (!is_given_up && !is_far) {
    if (parallel_) add(Way::parallel);
    add(Way::striped);
    // Both are judged by the same number of messages.
    if (!trials_.empty() && direct_.num_learned() <= rate_of(trials_.front()).num_learned()) {
      trials_.push_front(Way::direct);
    }
    if (trials_.empty() && direct_.num_learned() == 1 &&
        (is_direct_slow(bytes) || times_of_usual(bytes) > kBecameSlow)) {
      trials_.push_back(Way::direct);
    }
  }
  if (!trials_.empty()) return;
  is_comparing_ = false;
  comparison_interval_ = taken != former_
                             ? kComparisonInterval
                             : std::min(2 * comparison_interval_, kLongestComparisonInterval);
  direct_interval_ = kTrialInterval;
  next_direct_ = now + std::max(direct_interval_, rest_after(direct_.expected_s(bytes)));
}

void WayChoice::postpone_trials(Time now) {
  trials_.insert(trials_.begin(), begun_.begin(), begun_.end());
  begun_.clear();
  next_direct_ = std::max(next_direct_, now + kTrialInterval);
  next_comparison_ = std::max(next_comparison_, now + kTrialInterval);
}

}  // namespace fairlead::intercept::relay
