// SPDX-License-Identifier: Apache-2.0
// The options of one order to the probe, read from JSON.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/pattern.hpp"

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
/// As CMPI measures (section 3.1): 1 B for the latency, 8 MiB for the bandwidth (there 8 MB).
Recipe full_recipe();

/// The traffic of placements that is tried out after the pairs.
struct RehearsalOptions {
  std::vector<Pattern> patterns;
  /// No further round begins after this time.
  double time_s = 1;
  int max_rounds = 12;
  /// Messages are not shortened below this size, whatever a step takes.
  std::int64_t least_bytes = 1;
  /// No trial begins after this time, however few rounds there are.
  double most_s = std::numeric_limits<double>::infinity();
};

/// Flows of all hosts at once that show what interfaces carry.
struct InterfacesOptions {
  /// What a pair is expected to carry; messages of flows are sized by it.
  double pair_Bps = 32e6;
};

/// What is to be found out about the inside of each host.
struct InsideOptions {
  struct OfHost {
    /// Pairs of CPUs that exchange data.
    std::vector<std::pair<int, int>> pairs;
    /// Sets of CPUs, each of which reads memory together.
    std::vector<std::vector<int>> memory;
  };
  /// By rank; none: the topology is read, and nothing is measured.
  std::vector<OfHost> hosts;
  /// Bytes that each CPU reads.
  std::int64_t read_bytes = std::int64_t{64} << 20;
};

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
  double silence_timeout_s = 10;
  /// The pairs of ranks that are measured, the lower first; none given: all.
  std::optional<std::vector<std::pair<int, int>>> pairs;
  /// Whether each host's computing is measured after the pairs; the result of the pairs has it.
  bool has_hosts = false;
  /// Whether flows run together after the pairs. Pairs then have half of the budget.
  bool has_contention = false;
  std::optional<InterfacesOptions> interfaces;
  std::optional<RehearsalOptions> rehearsal;
  std::optional<InsideOptions> inside;
  /// Whether further orders follow on the standard input of rank 0.
  bool has_more_orders = false;

  [[nodiscard]] double pairs_budget_s() const { return has_contention ? budget_s / 2 : budget_s; }
};

/// @param text one JSON object whose fields are those of `Options`; what is absent keeps its
/// default.
/// @throws InputError naming the field, its value and what is allowed.
Options parse_order(std::string_view text);

}  // namespace fairlead::probe
