// SPDX-License-Identifier: Apache-2.0
// Whether this machine has cores that nothing wants to use.
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "frame_queue.hpp"

namespace fairlead::router {

/// The tasks of the machine that run or want to, in the text of /proc/loadavg (proc(5)).
[[nodiscard]] std::optional<int> parse_num_running(std::string_view text);
[[nodiscard]] std::optional<int> num_running();

/// Looks now and then how many tasks want to run, at times when this one has nothing to do: just
/// after it has passed something on, who gave it still runs, and who got it does already. Pure: no
/// files, no clock.
class SpareCores {
 public:
  static constexpr std::chrono::milliseconds kLookInterval{5};
  static constexpr std::size_t kLooks = 16;
  /// Of so many looks, this many may have found more tasks than cores.
  static constexpr std::size_t kMostCrowded = 7;

  /// @param num_cores that this process may use.
  explicit SpareCores(int num_cores) : num_cores_(num_cores) {}

  [[nodiscard]] bool wants_look(Clock::time_point now) const { return now >= next_look_; }
  /// @param num_running tasks, the one that asks among them; none: not known.
  void look(std::optional<int> num_running, Clock::time_point now);
  [[nodiscard]] bool are_there() const { return crowded_.count() <= kMostCrowded; }

 private:
  int num_cores_;
  /// Whether each of the last looks found more tasks than cores.
  std::bitset<kLooks> crowded_ = ~std::bitset<kLooks>{};
  Clock::time_point next_look_{};
};

}  // namespace fairlead::router
