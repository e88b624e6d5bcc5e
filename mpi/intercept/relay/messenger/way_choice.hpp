// SPDX-License-Identifier: Apache-2.0
// Which way the next message to a host takes, by what whole messages have taken before.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "relay/messenger/path_rule.hpp"
#include "relay/messenger/relay_load.hpp"

namespace fairlead::intercept::relay {

/// What whole messages took on one way: the median of the last three, so that one of them that was
/// disturbed decides nothing; the fastest until there are three, since the first ones open
/// connections; the plan before there is any.
class WayRate {
 public:
  WayRate(double planned_Bps, double latency_s)
      : planned_Bps_(planned_Bps), latency_s_(latency_s) {}

  /// The fastest of the last three counts. So a way is left only for one that is clearly faster.
  [[nodiscard]] WayRate preferred() const;

  void learn(std::uint64_t bytes, double seconds);
  /// What was learned is not true any more.
  void forget() { num_learned_ = 0; }
  [[nodiscard]] std::size_t num_learned() const { return num_learned_; }
  [[nodiscard]] double expected_s(std::uint64_t bytes) const;
  [[nodiscard]] double planned_s(std::uint64_t bytes) const;

 private:
  [[nodiscard]] double rate_Bps() const;

  double planned_Bps_;
  double latency_s_;
  std::array<double, 3> last_Bps_{};
  std::size_t num_learned_ = 0;
  bool is_preferred_ = false;
};

/// Rates of all ways to a host.
struct WayRates {
  WayRate direct;
  WayRate striped;
  /// Several connections of the direct path; nothing where there are none.
  std::optional<WayRate> parallel{};
  /// The best path over other hosts alone; nothing where there is none.
  std::optional<WayRate> relayed{};
};

/// How fast the program goes on after messages of one way: after each of the last two.
class Pace {
 public:
  void note(double gap_s) { gaps_s_[num_gaps_++ % gaps_s_.size()] = gap_s; }
  void forget() { num_gaps_ = 0; }
  [[nodiscard]] bool is_known() const { return num_gaps_ >= gaps_s_.size(); }
  [[nodiscard]] bool is_slower_than(double gap_s) const;
  [[nodiscard]] bool is_far_faster_than(const Pace& other) const;

 private:
  std::array<double, 2> gaps_s_{};
  std::size_t num_gaps_ = 0;
};

/// The rates of a plan may be wrong, and change. So whole messages are sent by each way in turns: a
/// comparison, at the beginning and when the program has become slower. While the MPI carries the
/// messages as fast as planned nothing is tried: ranks that wait for each other would all wait for
/// a trial of any.
class WayChoice {
 public:
  /// Messages by routers must be faster than the direct path by this, and those by relays than
  /// those by several connections.
  static constexpr double kMargin = 1.1;
  /// A way that is so many times as fast needs no further trials.
  static constexpr double kFarFaster = 2.0;
  /// While routers carry the messages the direct path is tried after this, then twice as late each
  /// time, up to the second one.
  static constexpr std::chrono::milliseconds kTrialInterval{250};
  static constexpr std::chrono::milliseconds kLongestTrialInterval{4000};
  /// The next comparison begins after this at the earliest; after one without a result twice as
  /// late as the time before, up to the second one.
  static constexpr std::chrono::milliseconds kComparisonInterval{250};
  static constexpr std::chrono::milliseconds kLongestComparisonInterval{16000};

  /// What holds for such a message, that of the plan, is taken to hold for all.
  static constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20U;

  WayChoice(const WayRates& planned, Time now);

  /// The way of a message; a trial is one, so each answer has to be followed.
  [[nodiscard]] Way next(std::uint64_t bytes, Time now);
  /// Messages by routers on this way have taken so long, from the first to the last byte.
  void learn(Way way, std::uint64_t bytes, double seconds, Time now);
  /// What a message on this way took tells nothing of it.
  void miss(Way way, std::uint64_t bytes, Time now);
  /// Messages on the direct path have not arrived after so long (PathRule): far longer than usual,
  /// or than by relays, they leave it. What has arrived says how long the whole would take.
  [[nodiscard]] std::optional<Way> leave_if_late(Way way, std::uint64_t bytes,
                                                 std::uint64_t arrived_bytes, double seconds,
                                                 Time now);
  /// Whether it is not known yet what a message on this way takes that was a trial.
  [[nodiscard]] bool is_trying(Way way) const {
    return std::find(begun_.begin(), begun_.end(), way) != begun_.end();
  }
  /// So long after a message on this way the program has sent the next one. The MPI may be slower
  /// than the direct path is by routers: what it has to tell the receiver waits behind messages.
  void pace(Way way, double gap_s, Time now);
  /// The program has become slower: the ways may have other rates now.
  void note_slowdown(Time now);
  /// The program has waited for one message far longer than for those before. A trial costs less
  /// than that did, so failed comparisons do not delay this one.
  void note_long_gap(Time now);
  /// Whether messages of this size are taken by routers.
  [[nodiscard]] bool is_striping_worth(std::uint64_t bytes) const {
    return best(bytes) != Way::mpi;
  }
  /// Whether several connections of the direct path carry more than one.
  [[nodiscard]] bool is_parallel_faster(std::uint64_t bytes) const;
  /// What is known is used again first, after a time without messages.
  void postpone_trials(Time now);

 private:
  [[nodiscard]] Way best(std::uint64_t bytes) const;
  [[nodiscard]] bool is_program_faster_with_relays(Way by_relays, std::uint64_t bytes) const;
  [[nodiscard]] const WayRate& rate_of(Way way) const;
  [[nodiscard]] WayRate& rate_of(Way way);
  [[nodiscard]] double expected_s(Way way, std::uint64_t bytes) const;
  [[nodiscard]] double one_connection_s(std::uint64_t bytes) const;
  [[nodiscard]] bool may_be_faster(Way way, std::uint64_t bytes) const;
  [[nodiscard]] bool is_load_unknown(std::uint64_t bytes) const;
  [[nodiscard]] bool is_direct_slow(std::uint64_t bytes) const;
  [[nodiscard]] bool is_slower_than_usual(std::uint64_t bytes) const;
  [[nodiscard]] bool is_direct_known_less(std::uint64_t bytes) const;
  [[nodiscard]] double times_of_usual(std::uint64_t bytes) const;
  [[nodiscard]] bool has_become_slow(std::uint64_t bytes) const;
  [[nodiscard]] bool may_mpi_be_slow(std::uint64_t bytes) const;
  [[nodiscard]] bool may_load_be_over(std::uint64_t bytes, Time now) const;
  void learn_load(std::uint64_t bytes, double seconds, Time now);
  void pause_trials(std::uint64_t bytes, Time now);
  void forget_relay(Time now);
  [[nodiscard]] double late_after_s(Way way, std::uint64_t bytes) const;
  void compare_if_due(Time now);
  void compare(Way former, Time now);
  /// @return whether a trial of this way was on its way
  bool end_trial(Way way);
  void go_on(std::uint64_t bytes, Time now);

  WayRates rates_;
  /// Before the comparison.
  std::optional<WayRate> usual_direct_{};

  RelayLoad load_;
  /// Rate of the best relay, without messages whose time does not depend on the load.
  std::optional<WayRate> relay_under_load_{};
  /// What is known of the load is from before this comparison.
  bool is_load_old_ = false;

  /// Trials of a comparison that are still to be made.
  std::deque<Way> trials_;
  /// Those that are on their way.
  std::vector<Way> begun_;
  /// Messages that told nothing: trials of this comparison, or after it those of the relay that is
  /// taken alone, one after the other.
  int num_missed_ = 0;
  bool is_comparing_ = true;
  Pace mpi_pace_;
  /// Messages by the MPI since the last comparison began.
  int num_by_mpi_ = 0;
  /// After messages by routers on any way.
  Pace routers_pace_;
  Pace relays_pace_;
  /// What was taken before the comparison.
  Way former_ = Way::mpi;

  Time next_direct_;
  std::chrono::milliseconds direct_interval_ = kTrialInterval;
  Time next_comparison_;
  /// What the comparison that is made, or was made last, began with.
  Time last_comparison_;
  bool is_after_long_gap_ = false;
  /// The next comparison is due, as soon as it may be made.
  bool may_have_changed_ = false;
  Time last_slowdown_;
  std::chrono::milliseconds comparison_interval_ = kComparisonInterval;
};

}  // namespace fairlead::intercept::relay
