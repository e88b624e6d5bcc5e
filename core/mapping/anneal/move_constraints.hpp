// SPDX-License-Identifier: Apache-2.0
// Which tasks may move: not the fixed ones, and no more than the user allows.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace fairlead::optimizing {

class MoveConstraints {
 public:
  /// Everything may be moved.
  explicit MoveConstraints(std::int32_t num_tasks) : movable_(static_cast<std::size_t>(num_tasks)) {
    std::iota(movable_.begin(), movable_.end(), 0);
  }

  /// @param is_fixed  length T
  /// @param home_of_task  where each task is counted as not moved, length T
  /// @param most_away  how many may be elsewhere
  MoveConstraints(std::span<const char> is_fixed, std::span<const std::int32_t> home_of_task,
                  std::int64_t most_away, std::span<const std::int32_t> host_of_task)
      : is_fixed_(is_fixed.begin(), is_fixed.end()),
        home_of_task_(home_of_task.begin(), home_of_task.end()),
        most_away_(most_away) {
    for (std::size_t task = 0; task < is_fixed_.size(); ++task) {
      if (is_fixed_[task] == 0) movable_.push_back(static_cast<std::int32_t>(task));
      num_away_ += host_of_task[task] != home_of_task_[task] ? 1 : 0;
    }
  }

  [[nodiscard]] std::span<const std::int32_t> movable() const { return movable_; }
  [[nodiscard]] bool allows_host_swaps() const { return is_fixed_.empty(); }

  [[nodiscard]] bool allows(std::int32_t task, std::int32_t here, std::int32_t occupant,
                            std::int32_t there) const {
    if (is_fixed_.empty()) return true;
    if (is_task(occupant) && is_fixed_[static_cast<std::size_t>(occupant)] != 0) return false;
    return num_away_ + change_away(task, here, occupant, there) <= most_away_;
  }
  void add_move(std::int32_t task, std::int32_t here, std::int32_t occupant, std::int32_t there) {
    if (!is_fixed_.empty()) num_away_ += change_away(task, here, occupant, there);
  }

 private:
  [[nodiscard]] bool is_task(std::int32_t occupant) const {
    return static_cast<std::size_t>(occupant) < is_fixed_.size();
  }
  [[nodiscard]] std::int64_t change_away(std::int32_t task, std::int32_t here,
                                         std::int32_t occupant, std::int32_t there) const {
    std::int64_t change = away(task, there) - away(task, here);
    if (is_task(occupant)) change += away(occupant, here) - away(occupant, there);
    return change;
  }
  [[nodiscard]] std::int64_t away(std::int32_t task, std::int32_t host) const {
    return home_of_task_[static_cast<std::size_t>(task)] != host ? 1 : 0;
  }

  std::vector<std::int32_t> movable_;
  std::vector<char> is_fixed_;  // empty: nothing is fixed and nothing is counted
  std::vector<std::int32_t> home_of_task_;
  std::int64_t most_away_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t num_away_ = 0;
};

}  // namespace fairlead::optimizing
