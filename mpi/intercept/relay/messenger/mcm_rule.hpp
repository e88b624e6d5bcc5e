// SPDX-License-Identifier: Apache-2.0
// The rule of MCM, `mcm`: the time that messages take puts a pair of hosts into one of three zones,
// each transition upward opens one more path, and each segment takes one of the open paths by
// chance, weighted by latency.
#pragma once

#include <array>
#include <random>
#include <vector>

#include "relay/messenger/path_rule.hpp"

namespace fairlead::intercept::relay {

enum class Zone : std::uint8_t { low, medium, high };

class McmRule final : public PathRule {
 public:
  /// A new path must be expected to be faster than what messages take now by this.
  static constexpr double kMargin = 1.1;
  /// A zone is left upward when messages have been beyond it for so long, or three of them; and the
  /// next time after so long at the earliest.
  static constexpr std::chrono::milliseconds kHoldTime{250};
  /// A path, other than the direct one, closes when it has carried nothing for so long.
  static constexpr std::chrono::seconds kCloseTime{2};
  /// In the lowest zone, with the direct path alone, one message in this time goes by routers.
  static constexpr std::chrono::milliseconds kSampleInterval{250};

  /// @param routes  of the pair, the direct one first
  McmRule(std::vector<Route> routes, const Zones& zones, std::uint32_t seed);

  [[nodiscard]] Way next(std::uint64_t bytes, Time now) override;
  [[nodiscard]] bool is_striping_worth(std::uint64_t bytes) const override;
  [[nodiscard]] std::optional<std::size_t> choose(std::span<PathState> paths, Way way,
                                                  std::uint64_t bytes, Time now) override;
  void learn(Way way, std::uint64_t bytes, double seconds, Time now) override;
  void resume(Time now) override;
  [[nodiscard]] std::unique_ptr<PathRule> clone() const override;

  [[nodiscard]] Zone zone() const { return zone_; }
  /// How many paths have been opened since the start.
  [[nodiscard]] std::size_t num_openings() const { return num_openings_; }
  [[nodiscard]] std::size_t num_open() const;

 private:
  [[nodiscard]] double unloaded_s(std::uint64_t bytes) const;
  [[nodiscard]] Zone zone_of(double ratio) const;
  void open_best(std::uint64_t bytes, double seconds, Time now);
  void open(std::size_t path, Time now);
  void close_idle(Time now);
  void forget_messages() { num_ratios_ = 0; }
  [[nodiscard]] std::optional<std::size_t> any_that_answers(std::span<PathState> paths, Time now);

  std::vector<Route> routes_;
  Zones zones_;
  std::minstd_rand random_;
  /// Of each path: whether messages may take it, and when one did last.
  std::vector<bool> is_open_;
  std::vector<Time> last_chosen_;
  Zone zone_ = Zone::low;
  /// Of the last messages, the newest at `num_ratios_ - 1`, modulo the size.
  std::array<double, 3> ratios_{};
  std::size_t num_ratios_ = 0;
  /// What messages before the last opening have taken tells nothing of the paths since.
  Time last_opening_{};
  Time next_transition_{};
  Time next_sample_{};
  std::size_t num_openings_ = 0;
};

}  // namespace fairlead::intercept::relay
