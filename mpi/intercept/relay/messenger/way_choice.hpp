// SPDX-License-Identifier: Apache-2.0
// Which way the next message to a host takes, by what whole messages have taken before.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "relay/messenger/path_rule.hpp"

namespace fairlead::intercept::relay {

/// What whole messages took on one way: the median of the last three, so that one of them that was
/// disturbed decides nothing.
class WayRate {
 public:
  WayRate(double planned_Bps, double latency_s)
      : planned_Bps_(planned_Bps), latency_s_(latency_s) {}

  /// Until three messages are known the fastest of them counts, or the plan if it is faster: on
  /// new connections the first ones are slow.
  [[nodiscard]] WayRate with_doubt() const;

  void learn(std::uint64_t bytes, double seconds);
  [[nodiscard]] double expected_s(std::uint64_t bytes) const;

 private:
  [[nodiscard]] double rate_Bps() const;

  double planned_Bps_;
  double latency_s_;
  std::array<double, 3> last_Bps_{};
  std::size_t num_learned_ = 0;
  bool is_doubted_ = false;
};

/// When a way that is not taken is tried.
class Trials {
 public:
  explicit Trials(Time first) : next_(first) {}

  [[nodiscard]] bool is_due(Time now) const { return now >= next_; }
  /// It is tried now, and is expected to take so long.
  void begin(Time now, double expected_s);
  /// It is the way that is taken.
  void restart(Time now);
  void postpone(Time now) { next_ = std::max(next_, now + interval_); }

 private:
  Time next_;
  std::chrono::milliseconds interval_ = kFirst;

  static constexpr std::chrono::milliseconds kFirst{1000};
};

/// The rates of a plan may be wrong, and change: messages by routers are tried now and then, so
/// rarely that they cost at most a tenth of the time.
class WayChoice {
 public:
  /// Messages by routers must be faster than the direct path by this, and those by relays than
  /// those by several connections.
  static constexpr double kMargin = 1.1;
  /// So that a change is noticed well within a second.
  static constexpr std::chrono::milliseconds kTrialInterval{250};
  /// Each trial of a way that was in vain doubles the time to the next one, up to this.
  static constexpr std::chrono::milliseconds kLongestTrialInterval{8000};

  /// @param parallel  several connections of the direct path; nothing where there are none
  WayChoice(WayRate direct, WayRate striped, Time now,
            const std::optional<WayRate>& parallel = std::nullopt);

  /// The way of a message; a trial is one, so each answer has to be followed.
  [[nodiscard]] Way next(std::uint64_t bytes, Time now);
  /// Messages by routers on this way have taken so long, from the first to the last byte.
  void learn(Way way, std::uint64_t bytes, double seconds);
  /// Whether messages of this size are taken by routers.
  [[nodiscard]] bool is_striping_worth(std::uint64_t bytes) const {
    return best(bytes) != Way::mpi;
  }
  /// Whether several connections of the direct path carry more than one.
  [[nodiscard]] bool is_parallel_faster() const;
  /// What is known is used again first, after a time without messages.
  void postpone_trials(Time now);

 private:
  [[nodiscard]] Way best(std::uint64_t bytes) const;
  [[nodiscard]] bool is_far_faster(Way way, std::uint64_t bytes) const;

  WayRate direct_;
  WayRate striped_;
  std::optional<WayRate> parallel_;
  Time next_direct_;
  /// Of the direct path, at once, before a way that is hardly faster is taken: its first message
  /// also had to open a connection.
  int num_early_trials_ = 2;
  Trials striped_trials_;
  Trials parallel_trials_;
};

}  // namespace fairlead::intercept::relay
