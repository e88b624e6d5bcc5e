// SPDX-License-Identifier: Apache-2.0
// The path of a segment by the rule `trials`: that on which it is expected to arrive first, among
// those of its mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "routing/path_rule.hpp"

namespace fairlead::relay {

/// Pure: no clock.
class TrialPaths {
 public:
  /// A relay is taken if it is expected to be faster than the direct path by this.
  static constexpr double kRelayMargin = 1.1;

  /// @param may_take_all_connections  of the direct path, where all paths are taken
  /// @return none if all paths have failed
  [[nodiscard]] std::optional<std::size_t> choose(std::span<const PathState> paths,
                                                  TransferMode mode, std::uint64_t bytes, Time now,
                                                  bool may_take_all_connections);

 private:
  [[nodiscard]] std::optional<std::size_t> best_relay(std::span<const PathState> paths, Time now);

  /// The last one that was taken alone.
  std::optional<std::size_t> relay_{};
};

}  // namespace fairlead::relay
