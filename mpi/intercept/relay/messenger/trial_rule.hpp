// SPDX-License-Identifier: Apache-2.0
// Our own rule, `trials`: whole messages tell whether routers are faster, by several connections of
// the direct path, by one relay or by all paths; of these, each segment takes the one on which it
// is expected to arrive first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "relay/messenger/path_rule.hpp"
#include "relay/messenger/way_choice.hpp"

namespace fairlead::intercept::relay {

class TrialRule final : public PathRule {
 public:
  /// A relay is taken if it is expected to be faster than the direct path by this.
  static constexpr double kRelayMargin = 1.1;

  explicit TrialRule(WayChoice choice) : choice_(std::move(choice)) {}

  [[nodiscard]] Way next(std::uint64_t bytes, Time now) override;
  [[nodiscard]] bool is_striping_worth(std::uint64_t bytes) const override;
  [[nodiscard]] std::optional<std::size_t> choose(std::span<PathState> paths, Way way,
                                                  std::uint64_t bytes, Time now,
                                                  std::optional<std::size_t>& taken) override;
  void learn(Way way, std::uint64_t bytes, double seconds, Time now) override;
  void miss(Way way, std::uint64_t bytes, Time now) override;
  [[nodiscard]] std::optional<Way> leave_if_late(Way way, std::uint64_t bytes,
                                                 std::uint64_t arrived_bytes, double seconds,
                                                 Time now) override {
    return choice_.leave_if_late(way, bytes, arrived_bytes, seconds, now);
  }
  [[nodiscard]] bool is_trying(Way way) const override { return choice_.is_trying(way); }
  void pace(Way way, double gap_s, Time now) override { choice_.pace(way, gap_s, now); }
  void note_slowdown(Time now) override;
  void note_long_gap(Time now) override { choice_.note_long_gap(now); }
  void resume(Time now) override;
  [[nodiscard]] std::unique_ptr<PathRule> clone() const override;

 private:
  [[nodiscard]] std::optional<std::size_t> best_relay(std::span<const PathState> paths, Time now);
  [[nodiscard]] static bool is_part_of(Way way, const Route& route);
  [[nodiscard]] bool may_stripe(const Route& route) const;

  WayChoice choice_;
  /// The last one that was taken alone.
  std::optional<std::size_t> relay_{};
};

}  // namespace fairlead::intercept::relay
