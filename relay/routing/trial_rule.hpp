// SPDX-License-Identifier: Apache-2.0
// Our own rule, `trials`: whole messages are timed in each mode: by the MPI, by several connections
// of the direct path, by one relay, or by all paths. Within a mode, each segment takes the path on
// which it is expected to arrive first.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "routing/path_rule.hpp"
#include "routing/trial_estimates.hpp"
#include "routing/trial_paths.hpp"
#include "routing/trial_table.hpp"

namespace fairlead::relay {

/// The rates of a plan may be wrong, and change. So whole messages are sent in each mode in turns:
/// a comparison, at the beginning and when the program has become slower. While the MPI carries the
/// messages as fast as planned nothing is tried: where ranks wait for each other, a trial of one
/// rank delays all. A state machine (trial_table.hpp), whose events are found here.
class TrialRule final : public PathRule {
 public:
  /// While routers carry the messages the direct path is tried after this time, then after twice as
  /// long each time, up to the second limit.
  static constexpr std::chrono::milliseconds kCheckInterval{250};
  static constexpr std::chrono::milliseconds kLongestCheckInterval{4000};
  /// The next comparison begins after this time at the earliest. The time doubles after a
  /// comparison without a result, up to the second limit.
  static constexpr std::chrono::milliseconds kComparisonInterval{250};
  static constexpr std::chrono::milliseconds kLongestComparisonInterval{16000};

  /// @param is_rehearsal  as of TrialEstimates
  TrialRule(const ModeRates& planned, Time now, bool is_rehearsal = false);

  [[nodiscard]] TransferMode next(std::uint64_t bytes, Time now) override;
  [[nodiscard]] bool is_striping_worth(std::uint64_t bytes) const override {
    return estimates_.best(bytes) != TransferMode::mpi;
  }
  [[nodiscard]] std::optional<std::size_t> choose(std::span<PathState> paths, TransferMode mode,
                                                  std::uint64_t bytes, Time now,
                                                  std::optional<std::size_t>& taken) override;
  void learn(TransferMode mode, std::uint64_t bytes, double seconds, Time now) override;
  void miss(TransferMode mode, std::uint64_t bytes, Time now) override;
  [[nodiscard]] std::optional<TransferMode> leave_if_late(TransferMode mode, std::uint64_t bytes,
                                                          std::uint64_t arrived_bytes,
                                                          double seconds, Time now) override;
  [[nodiscard]] bool is_trying(TransferMode mode) const override;
  void add_interval(TransferMode mode, double interval_s, Time now) override;
  void note_slowdown(Time now) override;
  void note_long_gap(Time now) override;
  [[nodiscard]] bool resume(Time now) override;

  [[nodiscard]] TrialState state() const { return state_; }

 private:
  /// What an event is about.
  struct Occasion {
    std::uint64_t bytes = TrialEstimates::kLargeBytes;
    Time now{};
    /// The mode of the message, or the previous mode.
    TransferMode mode = TransferMode::mpi;
  };
  struct Comparison {
    /// Messages that are still to be sent, also of a check.
    std::deque<TransferMode> pending{};
    /// Messages whose time is not known yet.
    std::vector<TransferMode> under_way{};
    /// Messages without a usable time: of this comparison, or after it, in succession, of the relay
    /// that is used alone.
    int num_inconclusive = 0;
    /// The previous mode.
    TransferMode former = TransferMode::mpi;
    bool is_after_long_gap = false;
  };
  struct Schedule {
    Time next_check{};
    std::chrono::milliseconds check_interval = kCheckInterval;
    Time next_comparison{};
    std::chrono::milliseconds comparison_interval = kComparisonInterval;
    /// When the comparison that is made, or was made last, began.
    Time last_comparison{};
    Time last_slowdown{};
    /// A comparison is due, as soon as it may be made.
    bool is_comparison_requested = false;
    /// Since the last trial: they are postponed once, also where each message follows a pause.
    bool is_postponed = false;
  };

  [[nodiscard]] bool is_comparing() const {
    return state_ == TrialState::trying || state_ == TrialState::awaiting;
  }
  [[nodiscard]] bool may_compare(Time now) const {
    return comparison_.pending.empty() && now >= schedule_.next_comparison;
  }
  void begin_due_comparison(std::uint64_t bytes, Time now);
  [[nodiscard]] bool is_check_due(std::uint64_t bytes, Time now) const;
  TransferMode send_trial(const Occasion& occasion);
  TransferMode send_check(const Occasion& occasion);
  bool end_trial(TransferMode mode);

  /// Takes a step of the table. @return its action, which is done unless it sends a message
  TrialAction apply(TrialEvent event, const Occasion& occasion);
  void act(TrialAction action, const Occasion& occasion);
  void evaluate(const Occasion& occasion);
  void repeat_or_evaluate(const Occasion& occasion);
  void compare(const Occasion& occasion);
  void compare_at_once(const Occasion& occasion);
  void request_comparison(const Occasion& occasion);
  void settle(const Occasion& occasion);
  void pause_checks(const Occasion& occasion);
  void postpone_trials(const Occasion& occasion);

  TrialState state_ = TrialState::trying;
  TrialEstimates estimates_;
  Comparison comparison_{};
  Schedule schedule_{};
  TrialPaths paths_{};
};

}  // namespace fairlead::relay
