// SPDX-License-Identifier: Apache-2.0
// Whether this machine has idle cores.
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "router/frame_queue.hpp"

namespace fairlead::router {

/// The number of runnable tasks of the machine, from the text of /proc/loadavg (proc(5)). Since
/// this task itself runs, 0 means that they are not counted; then none.
[[nodiscard]] std::optional<int> parse_num_running(std::string_view text);
[[nodiscard]] std::optional<int> num_running();

/// Whether the text of a control group's cpu.max (version 2) or cpu.cfs_quota_us (version 1) limits
/// processor time, and not the cores only.
[[nodiscard]] bool is_cpu_quota(std::string_view text);
/// Whether the control group of this process, or one above it, limits processor time.
[[nodiscard]] bool has_cpu_quota();

/// Cores that this process may use without taking anything from others: 0 where its processor time
/// is limited, since the other processes under that limit would lack the time that it uses.
[[nodiscard]] int num_own_cores();

/// Keeps some samples of how many tasks are runnable. One sample decides nothing: just after a
/// frame has been passed on, its sender and its receiver may both run. Pure: no files, no clock.
class SpareCores {
 public:
  static constexpr std::chrono::milliseconds kLookInterval{5};
  static constexpr std::size_t kLooks = 16;
  /// Maximum number of these samples that found more tasks than cores.
  static constexpr std::size_t kMaxCrowdedLooks = 7;

  /// @param num_cores as by `num_own_cores`.
  explicit SpareCores(int num_cores) : num_cores_(num_cores) {}

  [[nodiscard]] bool wants_look(Clock::time_point now) const { return now >= next_look_; }
  /// @param num_running  number of runnable tasks, including this one; none: unknown
  void look(std::optional<int> num_running, Clock::time_point now);
  [[nodiscard]] bool are_there() const { return crowded_.count() <= kMaxCrowdedLooks; }

 private:
  int num_cores_;
  /// Whether each of the last samples found more tasks than cores.
  std::bitset<kLooks> crowded_ = ~std::bitset<kLooks>{};
  Clock::time_point next_look_{};
};

}  // namespace fairlead::router
