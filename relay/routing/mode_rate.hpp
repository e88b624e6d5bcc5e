// SPDX-License-Identifier: Apache-2.0
// The times of whole messages in each transfer mode to a host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fairlead::relay {

/// The time of whole messages in one mode: the median of the last three, so that a single disturbed
/// one has no effect; the fastest until there are three, since the first ones open connections; the
/// planned time before there is any.
class ModeRate {
 public:
  ModeRate(double planned_Bps, double latency_s)
      : planned_Bps_(planned_Bps), latency_s_(latency_s) {}

  /// A copy in which the fastest of the last three counts. So a mode is left only for one that is
  /// clearly faster.
  [[nodiscard]] ModeRate preferred() const;

  void learn(std::uint64_t bytes, double seconds);
  /// Discards the measured times, which are out of date.
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

/// Rates of all modes to a host.
struct ModeRates {
  ModeRate direct;
  ModeRate striped;
  /// Several connections of the direct path; nothing where there are none.
  std::optional<ModeRate> parallel{};
  /// The best path over other hosts alone; nothing where there is none.
  std::optional<ModeRate> relayed{};
};

}  // namespace fairlead::relay
