// SPDX-License-Identifier: Apache-2.0
// Estimates of the rule `trials` for the modes to one host, and the mode that is expected to be the
// best.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "routing/mode_rate.hpp"
#include "routing/path_rule.hpp"
#include "routing/relay_load.hpp"
#include "routing/send_intervals.hpp"

namespace fairlead::relay {

/// Pure: no clock.
class TrialEstimates {
 public:
  /// Messages by routers must be faster than the direct path by this factor. Messages by relays
  /// must be so much faster than those by several connections, since they load third hosts.
  static constexpr double kMargin = 1.1;
  /// The message size of the plan. The mode that is faster for it is assumed to be faster for all
  /// sizes.
  static constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20U;

  /// @param is_rehearsal  whether the messages are those of a rehearsal
  TrialEstimates(const ModeRates& planned, bool is_rehearsal);

  /// The mode in which a message is expected to arrive first.
  [[nodiscard]] TransferMode best(std::uint64_t bytes) const;
  [[nodiscard]] double expected_s(TransferMode mode, std::uint64_t bytes) const;
  /// The same by the rate of this mode alone, without regard to a slow direct path.
  [[nodiscard]] double own_rate_s(TransferMode mode, std::uint64_t bytes) const {
    return rate_of(mode).expected_s(bytes);
  }
  /// Whether several connections of the direct path carry more than one.
  [[nodiscard]] bool is_parallel_faster(std::uint64_t bytes) const;
  [[nodiscard]] bool has_relay() const { return rates_.relayed.has_value(); }
  [[nodiscard]] bool has_parallel() const { return rates_.parallel.has_value(); }
  [[nodiscard]] bool is_known(TransferMode mode) const { return rate_of(mode).num_learned() > 0; }
  /// A message on the direct path that takes longer is late: by relays it would have arrived, or
  /// the path has become slow.
  [[nodiscard]] double late_after_s(TransferMode mode, std::uint64_t bytes) const;
  /// Whether the program may be slow because of messages by the MPI.
  [[nodiscard]] bool may_mpi_be_slow(std::uint64_t bytes) const;
  [[nodiscard]] bool is_mpi_far_slower() const {
    return routers_intervals_.is_far_faster_than(mpi_intervals_);
  }
  /// Whether contention that was not observed for a long time may have ended, so that all paths may
  /// be faster.
  /// @param least  the load lasts at least this long
  [[nodiscard]] bool may_contention_be_over(std::uint64_t bytes, Time now,
                                            Clock::duration least) const;
  /// Whether another mode than the MPI is the best one by more messages than the direct path had.
  [[nodiscard]] bool is_direct_known_less(std::uint64_t bytes) const;
  /// The messages that a comparison still needs; none if it is decided.
  [[nodiscard]] std::deque<TransferMode> further_trials(std::uint64_t bytes) const;

  /// The time of a whole message.
  void learn(TransferMode mode, std::uint64_t bytes, double seconds) {
    rate_of(mode).learn(bytes, seconds);
  }
  /// The same by the best relay alone, to detect contention.
  /// @return whether it has just ended
  [[nodiscard]] bool learn_contention(std::uint64_t bytes, double seconds, bool is_comparing,
                                      Time now);
  /// So long after a message in this mode the program has sent the next one.
  void add_interval(TransferMode mode, double interval_s);
  void forget_mpi_intervals() { mpi_intervals_.forget(); }
  /// Discards what may have changed, so that it is measured again. @param former  the mode that was
  /// taken
  void begin_comparison(TransferMode former, Time now);
  /// The estimate of contention is from before the comparison, and out of date if the direct path
  /// is slower than usual.
  void forget_old_contention(std::uint64_t bytes, Time now);
  void forget_relay(Time now);
  void forget_stripes() { rates_.striped.forget(); }

 private:
  [[nodiscard]] const ModeRate& rate_of(TransferMode mode) const;
  [[nodiscard]] ModeRate& rate_of(TransferMode mode);
  [[nodiscard]] double one_connection_s(std::uint64_t bytes) const;
  [[nodiscard]] bool is_program_faster_with_relays(TransferMode by_relays,
                                                   std::uint64_t bytes) const;
  [[nodiscard]] bool is_preferred_by_plan(TransferMode mode, std::uint64_t bytes) const;
  [[nodiscard]] bool may_be_faster(TransferMode mode, std::uint64_t bytes) const;
  [[nodiscard]] bool needs_trial(TransferMode mode, std::uint64_t bytes) const;
  [[nodiscard]] bool is_contention_unknown(std::uint64_t bytes) const;
  [[nodiscard]] bool is_direct_slow(std::uint64_t bytes) const;
  [[nodiscard]] bool is_slower_than_usual(std::uint64_t bytes) const;
  [[nodiscard]] double times_of_usual(std::uint64_t bytes) const;
  [[nodiscard]] bool has_become_slow(std::uint64_t bytes) const;
  [[nodiscard]] std::deque<TransferMode> trials_of_candidates(std::uint64_t bytes) const;

  bool is_rehearsal_;
  ModeRates rates_;
  /// Before the comparison.
  std::optional<ModeRate> usual_direct_{};
  RelayLoad load_{};
  /// Rate of the best relay, without messages whose time does not depend on the load.
  std::optional<ModeRate> relay_under_load_{};
  /// The estimate of the load is from before this comparison.
  bool is_load_old_ = false;
  SendIntervals mpi_intervals_{};
  /// Messages by the MPI since the last comparison began.
  int num_by_mpi_ = 0;
  /// After messages by routers in any mode.
  SendIntervals routers_intervals_{};
  SendIntervals relays_intervals_{};
};

}  // namespace fairlead::relay
