// SPDX-License-Identifier: Apache-2.0
// The options of a run of the probe, read from the command line.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace fairlead::probe {

/// The messages for measuring one pair. A train is a row of messages sent back to back; its
/// duration is one sample of the bandwidth.
struct Recipe {
  std::int64_t round_trip_bytes;
  int num_warm_up_round_trips;
  int messages_per_train;
  std::int64_t message_bytes;
  /// Trains requested ahead. 1: each is requested when the last has arrived, and a round trip is
  /// subtracted from its duration. 2: they follow one another without a gap, which short ones need.
  int window;
  /// Trains at the beginning of each row that are not counted, each one message: they fill the link
  /// and empty token buckets. At least window - 1.
  int num_lead_trains;
  /// Counted trains that are requested at the same time.
  int trains_per_command;
  /// Size of the messages in the first trains, which are not counted; 0: there are none.
  std::int64_t warm_up_message_bytes;

  [[nodiscard]] double train_bytes() const {
    return static_cast<double>(messages_per_train) * static_cast<double>(message_bytes);
  }
};

/// CloudMap's measurement: messages of 1 KiB only.
Recipe quick_recipe();
/// Trains of 64 KiB: on a busy machine, trains of 6 KiB mostly measure how long a receiver was not
///   running.
Recipe long_train_recipe();
/// CMPI's measurement: 1 B for the latency, 8 MiB for the bandwidth.
Recipe full_recipe();

struct Options {
  std::string mode = "quick";
  Recipe recipe = quick_recipe();
  /// A metric of a pair is done when its confidence interval is this narrow relative to it...
  double target_ratio = 0.1;
  /// ... or after this many samples ...
  int max_samples = 12;
  /// ... or when its share of the whole time is over.
  double budget_s = std::numeric_limits<double>::infinity();
  /// Pairs measured at the same time; 0: all of a round, or fewer if the hosts share one machine.
  int concurrency = 0;
  /// A partner without a sign of life for this time is given up.
  double patience_s = 10;
  /// Text of the PairSet that is measured; empty: all pairs.
  std::string pairs;
  /// Whether flows run together after the pairs. Pairs then have half of the budget.
  bool has_contention = false;
  /// Text of the patterns that are rehearsed after the pairs, see `parse_patterns`; empty: none.
  std::string rehearsed;
  /// The time of rehearsing, and the most rounds.
  double rehearsal_s = 1;
  int max_rehearsal_rounds = 12;
  /// Whether further orders follow on the standard input of rank 0.
  bool has_orders = false;

  [[nodiscard]] double pairs_budget_s() const { return has_contention ? budget_s / 2 : budget_s; }
};

/// @param arguments without the program's name.
/// @throws std::invalid_argument naming the option, its value and what is allowed.
Options parse_options(std::span<const char* const> arguments);

/// @param line the same options in one line, with a blank between words.
/// @throws std::invalid_argument as `parse_options`.
Options parse_order(std::string_view line);

}  // namespace fairlead::probe
