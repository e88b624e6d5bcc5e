// SPDX-License-Identifier: Apache-2.0
// Simulated annealing by swaps on the load model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "mapping/anneal/annealing.hpp"
#include "mapping/anneal/stop_criterion.hpp"
#include "mapping/jobs/load_state.hpp"

namespace fairlead::sim {

/// One walk, which keeps what waits least of what is done in time. Until it has found such a
/// placement, it never gets later. What is best may be ranks apart as well as together, so half of
/// the proposals go anywhere, and half to the node of a partner.
class JobsWalk {
 public:
  /// @param latest_ns  latest end of a placement
  JobsWalk(LoadState& state, const JobStreams& streams, std::int64_t sockets_per_node,
           std::int64_t num_occupants, double latest_ns, Random random)
      : state_(state),
        streams_(streams),
        latest_ns_(latest_ns * (1.0 + kRounding)),
        done_ns_(state.done_ns()),
        sockets_per_node_(static_cast<std::int32_t>(sockets_per_node)),
        num_occupants_(static_cast<std::int32_t>(num_occupants)),
        random_(random) {
    keep();
    if (done_ns_ > latest_ns_) best_ns_ = std::numeric_limits<double>::infinity();
  }

  /// Mean change of a swap; 0 if no swap changes anything.
  double typical_change_ns() {
    double sum_ns = 0.0;
    for (int sample = 0; sample < kSamples; ++sample) {
      const auto [rank, occupant] = proposal();
      if (is_same_socket(rank, occupant)) continue;
      sum_ns += std::abs(state_.swap(rank, occupant));
      state_.undo();
    }
    return sum_ns / kSamples;
  }

  /// @param hot_ns, cold_ns  temperatures, falling in equal ratios
  void run(double hot_ns, double cold_ns, std::int64_t num_steps, double limit_s,
           optimizing::StopCriterion& stop) {
    static const optimizing::Thresholds thresholds;
    const double begin_s = stop.elapsed_s();
    for (std::int64_t step = 0; step < num_steps && !stop(kBlock);) {
      if (std::isfinite(limit_s)) {
        const double passed_ratio = (stop.elapsed_s() - begin_s) / limit_s;
        if (passed_ratio >= 1.0) return;
        // A late walk cools faster: if it were cut off while hot, its result would be lost.
        step = std::max(step,
                        static_cast<std::int64_t>(passed_ratio * static_cast<double>(num_steps)));
      }
      const double progress = static_cast<double>(step) / static_cast<double>(num_steps);
      const double temperature_ns = hot_ns * std::pow(cold_ns / hot_ns, progress);
      for (const std::int64_t end = step + kBlock; step < end; ++step) {
        const double limit_ns = temperature_ns * static_cast<double>(thresholds.draw(random_));
        if (step % kStepsPerSocketSwap == 0) propose_sockets(limit_ns);
        propose(limit_ns);
      }
    }
  }

  [[nodiscard]] const std::vector<std::int32_t>& best_socket_of_rank() const { return best_; }

 private:
  static constexpr int kSamples = 512;
  static constexpr std::int64_t kBlock = 256;
  static constexpr std::int64_t kStepsPerSocketSwap = 16;
  // Smaller changes may come from the order of summation.
  static constexpr double kRounding = 1e-9;

  struct Pair {
    std::int32_t rank, occupant;
  };

  [[nodiscard]] bool is_same_socket(std::int32_t rank, std::int32_t occupant) const {
    return state_.occupancy().host_of(rank) == state_.occupancy().host_of(occupant);
  }

  Pair proposal() {
    const std::int32_t rank = random_.below(state_.occupancy().num_tasks());
    const auto streams = streams_.of_rank(rank);
    if (streams.empty() || random_.next() >> 63 == 0) return {rank, random_.below(num_occupants_)};
    const auto stream = random_.below(static_cast<std::int32_t>(streams.size()));
    const JobStreams::Ways& way = streams_.way(streams[static_cast<std::size_t>(stream)]);
    const auto partner = static_cast<std::int32_t>(way.src == rank ? way.dst : way.src);
    const std::int32_t node = state_.occupancy().host_of(partner) / sockets_per_node_;
    const auto occupants =
        state_.occupancy().occupants(node * sockets_per_node_ + random_.below(sockets_per_node_));
    if (occupants.empty()) return {rank, rank};
    const auto slot = random_.below(static_cast<std::int32_t>(occupants.size()));
    return {rank, occupants[static_cast<std::size_t>(slot)]};
  }

  void propose(double limit_ns) {
    const auto [rank, occupant] = proposal();
    if (is_same_socket(rank, occupant)) return;
    decide(state_.swap(rank, occupant), limit_ns);
  }

  /// Swaps whole sockets, so that ranks that belong together move together.
  void propose_sockets(double limit_ns) {
    const auto [rank, occupant] = proposal();
    if (is_same_socket(rank, occupant)) return;
    const std::int32_t one = state_.occupancy().host_of(rank);
    const std::int32_t other = state_.occupancy().host_of(occupant);
    if (state_.occupancy().occupants(one).size() != state_.occupancy().occupants(other).size())
      return;
    decide(state_.swap_sockets(one, other), limit_ns);
  }

  void decide(double change_ns, double limit_ns) {
    if (change_ns >= limit_ns) return state_.undo();
    const double done_ns = state_.done_ns();
    if (done_ns > std::max(done_ns_, latest_ns_)) return state_.undo();
    done_ns_ = done_ns;
    if (done_ns <= latest_ns_ && state_.waiting_ns() < best_ns_ * (1.0 - kRounding)) keep();
  }

  void keep() {
    const auto sockets = state_.occupancy().host_of_task();
    best_.assign(sockets.begin(), sockets.end());
    best_ns_ = state_.waiting_ns();
  }

  LoadState& state_;
  const JobStreams& streams_;
  double latest_ns_;
  double done_ns_;  // of the placement where the walk is
  std::int32_t sockets_per_node_;
  std::int32_t num_occupants_;
  Random random_;
  std::vector<std::int32_t> best_;
  double best_ns_ = 0.0;
};

}  // namespace fairlead::sim
