// SPDX-License-Identifier: Apache-2.0
// The partners of each task, with both directions of a pair side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead::optimizing {

/// The traffic between a task and one peer.
struct Exchange {
  std::int32_t peer;
  float out;  ///< to the peer
  float in;   ///< from the peer

  [[nodiscard]] float both() const { return out + in; }
};

/// Sparse graph of tasks. Messages of a task to itself are stored separately: they have no peer.
class TaskGraph {
 public:
  /// @param traffic  (T, T), finite, >= 0
  /// @param scale  factor on every value, so that single precision is enough
  TaskGraph(const RankMatrix& traffic, double scale);
  /// Scaled so that the mean message between two tasks is 1.
  [[nodiscard]] static TaskGraph scaled(const RankMatrix& traffic);

  [[nodiscard]] std::int32_t num_tasks() const {
    return static_cast<std::int32_t>(first_.size()) - 1;
  }
  [[nodiscard]] std::int64_t num_exchanges() const {
    return static_cast<std::int64_t>(exchanges_.size());
  }
  /// Partners of a task.
  [[nodiscard]] double mean_degree() const {
    return static_cast<double>(num_exchanges()) / static_cast<double>(std::max(1, num_tasks()));
  }
  [[nodiscard]] std::span<const Exchange> of(std::int32_t task) const {
    const auto index = static_cast<std::size_t>(task);
    return std::span(exchanges_).subspan(first_[index], first_[index + 1] - first_[index]);
  }
  [[nodiscard]] float to_itself(std::int32_t task) const {
    return to_itself_[static_cast<std::size_t>(task)];
  }
  /// Whether every exchange is as large one way as the other.
  [[nodiscard]] bool is_symmetric() const { return is_symmetric_; }
  /// Mean of both directions together, over the pairs with traffic; 0 if there are none.
  [[nodiscard]] double mean_both() const;

  /// The graph of groups of tasks. Exchanges inside a group become messages to itself.
  /// @param group_of_task  length num_tasks(), each in [0, num_groups)
  [[nodiscard]] TaskGraph contracted(std::span<const std::int32_t> group_of_task,
                                     std::int32_t num_groups) const;
  /// The graph of some tasks alone, in the order given.
  /// @param number_of_task  work space of length num_tasks(), all -1, and so again afterwards
  [[nodiscard]] TaskGraph part(std::span<const std::int32_t> tasks,
                               std::span<std::int32_t> number_of_task) const;

 private:
  TaskGraph() = default;
  /// Each peer of a row once, in ascending order.
  void merge_peers();

  std::vector<std::size_t> first_;  // of each task's exchanges, and the end
  std::vector<Exchange> exchanges_;
  std::vector<float> to_itself_;
  bool is_symmetric_ = true;
};

}  // namespace fairlead::optimizing
