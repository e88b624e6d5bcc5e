// SPDX-License-Identifier: Apache-2.0
// The state machine of the rule `trials`: for each state and event the next state and what is done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fairlead::relay {

enum class TrialState : std::uint8_t {
  /// A comparison is under way, and messages of it are still to be sent.
  trying,
  /// All messages of the comparison are sent, and not all of their times are known.
  awaiting,
  /// Messages take the best mode.
  settled,
  /// The same, and a message that checks the relay is still to be sent.
  checking,
};
inline constexpr std::size_t kNumTrialStates = 4;

/// When each of them happens: trial_table_text.cpp, and docs/design/relay-trials.md.
enum class TrialEvent : std::uint8_t {
  message_due,
  check_due,
  comparison_due,
  contention_expired,
  trials_sent,
  sample,
  direct_faster,
  direct_unsure,
  inconclusive,
  relay_silent,
  late,
  parallel_late,
  undecided,
  decided,
  slowdown,
  long_gap,
  contention_ends,
  resumed,
};
inline constexpr std::size_t kNumTrialEvents = 18;

enum class TrialAction : std::uint8_t {
  none,
  /// It cannot happen.
  never,
  send_in_best_mode,
  send_next_trial,
  /// Sends the message on the direct path, and the next one by the relay where all paths are taken.
  send_check,
  /// Decides by the known times which messages the comparison still needs.
  evaluate,
  /// Sends the message again while that may help, otherwise evaluates.
  repeat_or_evaluate,
  compare,
  /// The same with the direct path alone.
  compare_direct,
  /// The same, also where failed comparisons have postponed it; this one postpones no later one.
  compare_at_once,
  /// Compares as soon as it may.
  request_comparison,
  forget_relay,
  /// Discards the times of all paths under contention, and checks again after a pause.
  forget_stripes,
  /// Keeps the decision, and sets the times of the next comparison and check.
  settle,
  /// Tries nothing for a while; what was sent is sent again.
  postpone_trials,
};
inline constexpr std::size_t kNumTrialActions = 15;

struct TrialStep {
  TrialState next;
  TrialAction action;
};

/// What follows on an event, in the order of the states.
struct TrialRow {
  TrialEvent event;
  std::array<TrialStep, kNumTrialStates> steps;
};

[[nodiscard]] const std::array<TrialRow, kNumTrialEvents>& trial_table();
[[nodiscard]] TrialStep step_of(TrialState state, TrialEvent event);

}  // namespace fairlead::relay
