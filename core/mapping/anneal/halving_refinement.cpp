// SPDX-License-Identifier: Apache-2.0
// Moves between two halves, best gain first.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <queue>
#include <utility>

#include "base/element.hpp"
#include "mapping/anneal/halving.hpp"

namespace fairlead::optimizing {
namespace {

constexpr int kMostPasses = 8;
// Moves in a pass without a better cut, before it is given up.
constexpr int kMostMovesInVain = 200;
// How far a pass may deviate from the wanted weight, as a fraction of it.
constexpr std::int32_t kImbalancePart = 50;

class Refinement {
 public:
  Refinement(const TaskGraph& graph, const std::vector<std::int32_t>& weights,
             std::int32_t weight_of_first, std::int32_t tolerance, Sides& sides)
      : graph_(graph),
        weights_(weights),
        tolerance_(tolerance),
        max_imbalance_(
            std::max({tolerance, weight_of_first / kImbalancePart, std::ranges::max(weights)})),
        imbalance_(-weight_of_first),
        sides_(sides),
        gain_(sides.size(), 0.0F),
        is_locked_(sides.size(), 0) {
    for (std::int32_t task = 0; task < graph.num_tasks(); ++task) {
      if (at(sides_, task) == 0) imbalance_ += at(weights_, task);
      for (const Exchange& exchange : graph.of(task)) {
        at(gain_, task) += is_across(task, exchange.peer) ? exchange.both() : -exchange.both();
      }
    }
  }

  void run() {
    if (std::abs(imbalance_) > tolerance_) balance();
    for (int pass = 0; pass < kMostPasses && improve(); ++pass) {
    }
  }

 private:
  [[nodiscard]] bool is_across(std::int32_t one, std::int32_t other) const {
    return at(sides_, one) != at(sides_, other);
  }

  void balance() {
    offer_all(true);
    while (std::abs(imbalance_) > tolerance_) {
      const std::int32_t task = best_of(imbalance_ > 0 ? 0 : 1);
      if (task < 0) break;  // nothing left that is light enough
      move(task);
    }
    std::ranges::fill(is_locked_, 0);
  }

  /// One pass; whether the traffic across is less now.
  bool improve() {
    offer_all(false);
    std::vector<std::int32_t> moved;
    std::size_t num_kept = 0;
    float total = 0.0F, best = kLeastGain;
    for (int in_vain = 0; in_vain < kMostMovesInVain; ++in_vain) {
      const std::int32_t task = next_task();
      if (task < 0) break;
      total += at(gain_, task);
      move(task);
      moved.push_back(task);
      if (std::abs(imbalance_) <= tolerance_ && total > best) {
        best = total;
        num_kept = moved.size();
        in_vain = 0;
      }
    }
    for (const std::int32_t task : moved) at(is_locked_, task) = 0;
    for (; moved.size() > num_kept; moved.pop_back()) flip(moved.back());
    return num_kept > 0;
  }

  void offer_all(bool is_with_inner) {
    queues_ = {};
    for (std::int32_t task = 0; task < graph_.num_tasks(); ++task) {
      const bool is_at_border = std::ranges::any_of(
          graph_.of(task), [&](const Exchange& it) { return is_across(task, it.peer); });
      if (is_with_inner || is_at_border) offer(task);
    }
  }

  void offer(std::int32_t task) {
    queues_[at(sides_, task) == 0 ? 0 : 1].emplace(at(gain_, task), task);
  }

  /// The task of this side that gains most and may move; -1 if there is none.
  std::int32_t best_of(int side) {
    auto& queue = queues_[static_cast<std::size_t>(side)];
    for (; !queue.empty(); queue.pop()) {
      const auto [gain, task] = queue.top();
      if (at(is_locked_, task) == 0 && at(sides_, task) == side && at(gain_, task) == gain) {
        return task;
      }
    }
    return -1;
  }

  std::int32_t next_task() {
    std::int32_t from_first = best_of(0), from_second = best_of(1);
    if (from_first >= 0 && imbalance_ - at(weights_, from_first) < -max_imbalance_) from_first = -1;
    if (from_second >= 0 && imbalance_ + at(weights_, from_second) > max_imbalance_)
      from_second = -1;
    if (from_first < 0 || from_second < 0) return std::max(from_first, from_second);
    const float first_gain = at(gain_, from_first), second_gain = at(gain_, from_second);
    if (first_gain != second_gain) return first_gain > second_gain ? from_first : from_second;
    return imbalance_ >= 0 ? from_first : from_second;
  }

  void move(std::int32_t task) {
    at(is_locked_, task) = 1;
    flip(task);
    for (const Exchange& exchange : graph_.of(task)) {
      if (at(is_locked_, exchange.peer) == 0) offer(exchange.peer);
    }
  }

  void flip(std::int32_t task) {
    char& side = at(sides_, task);
    imbalance_ += side == 0 ? -at(weights_, task) : at(weights_, task);
    side = side == 0 ? 1 : 0;
    at(gain_, task) = -at(gain_, task);
    for (const Exchange& exchange : graph_.of(task)) {
      const float change = 2 * exchange.both();
      at(gain_, exchange.peer) += is_across(task, exchange.peer) ? change : -change;
    }
  }

  // Fraction of a mean message; smaller gains may be rounding errors of single precision.
  static constexpr float kLeastGain = 1e-4F;

  const TaskGraph& graph_;
  const std::vector<std::int32_t>& weights_;
  std::int32_t tolerance_;
  std::int32_t max_imbalance_;
  std::int32_t imbalance_;  // of side 0
  Sides& sides_;
  std::vector<float> gain_;  // less that crosses when the task changes its side
  std::vector<char> is_locked_;
  std::array<std::priority_queue<std::pair<float, std::int32_t>>, 2> queues_;
};

}  // namespace

void refine_halves(const TaskGraph& graph, const std::vector<std::int32_t>& weights,
                   std::int32_t weight_of_first, std::int32_t tolerance, Sides& sides) {
  Refinement(graph, weights, weight_of_first, tolerance, sides).run();
}

}  // namespace fairlead::optimizing
