// SPDX-License-Identifier: Apache-2.0
// Simulated annealing by swaps, for any objective that computes the change of a swap.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "base/random.hpp"
#include "mapping/anneal/cooling.hpp"
#include "mapping/anneal/move_constraints.hpp"
#include "mapping/anneal/stop_criterion.hpp"

namespace fairlead::optimizing {

/// -ln(u) for uniform u: the largest accepted change is the temperature times this. A table is good
/// enough here, and the same on every machine.
class Thresholds {
 public:
  Thresholds() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(values_.size());
      values_[i] = static_cast<float>(-std::log(u));
    }
  }
  [[nodiscard]] float draw(Random& random) const {
    return values_[static_cast<std::size_t>(random.next() >> 52)];
  }

 private:
  std::array<float, 4096> values_{};
};

/// One walk of annealing over a state. Proposals follow the traffic: a task swaps with an occupant
/// of a partner's host or of a host near to it.
template <typename State>
class Annealing {
 public:
  Annealing(State& state, MoveConstraints& constraints, Random random)
      : state_(state), constraints_(constraints), random_(random) {}

  /// @param stop  called with the number of proposals made since; true ends the walk
  void run(const Cooling& cooling, StopCriterion& stop) {
    if (state_.occupancy().num_hosts() < 2 || constraints_.movable().empty()) return;
    static const Thresholds thresholds;
    const auto num_blocks = std::max<std::int64_t>(1, cooling.num_steps / kBlock);
    const double begin_s = stop.elapsed_s();
    for (std::int64_t block = 0; block < num_blocks && !stop(kBlock); ++block) {
      if (std::isfinite(cooling.end_s)) {
        const double now_s = stop.elapsed_s();
        if (now_s >= cooling.end_s) return;
        const double passed_ratio = (now_s - begin_s) / (cooling.end_s - begin_s);
        block = std::max(block,
                         static_cast<std::int64_t>(passed_ratio * static_cast<double>(num_blocks)));
      }
      const double progress = static_cast<double>(block) / static_cast<double>(num_blocks);
      const double temperature =
          progress < kCoolingShare
              ? cooling.hot * std::pow(cooling.cold / cooling.hot, progress / kCoolingShare)
              : 0.0;
      for (std::int64_t step = 0; step < kBlock; ++step) {
        const float limit = static_cast<float>(temperature) * thresholds.draw(random_);
        if (step % kStepsPerHostSwap == 0) propose_host_swap(limit);
        propose_swap(limit);
      }
    }
  }

 private:
  static constexpr std::int64_t kBlock = 512;
  static constexpr std::int64_t kStepsPerHostSwap = 64;
  static constexpr double kCoolingShare =
      0.95;  // of the proposals; the others are at temperature 0

  void propose_swap(float limit) {
    const auto& occupancy = state_.occupancy();
    const auto movable = constraints_.movable();
    const std::int32_t task = movable[random_index(movable.size())];
    const std::int32_t here = occupancy.host_of(task);
    const std::int32_t there = target_host(task, here);
    if (there == here) return;
    const auto occupants = occupancy.occupants(there);
    if (occupants.empty()) return;
    const std::int32_t occupant = occupants[random_index(occupants.size())];
    if (!constraints_.allows(task, here, occupant, there)) return;
    if (state_.swap_change(task, occupant, limit) < limit) {
      state_.swap(task, occupant);
      constraints_.add_move(task, here, occupant, there);
      if constexpr (requires { state_.keep_if_best(); }) state_.keep_if_best();
    }
  }

  /// In 12 of 16 draws a partner's host, in 3 one near to it, and in 1 any. Where the partner's
  /// host is the task's own, or has no slot but the partner's, one near to it all 15 times; without
  /// partners, any. Measured by bench/placement.
  std::int32_t target_host(std::int32_t task, std::int32_t here) {
    const auto& occupancy = state_.occupancy();
    const auto exchanges = state_.graph().of(task);
    const std::uint64_t dice = random_.next() >> 60;
    if (exchanges.empty() || dice >= 15) return random_.below(occupancy.num_hosts());
    const std::int32_t partner_host =
        occupancy.host_of(exchanges[random_index(exchanges.size())].peer);
    if (partner_host != here && dice < 12 && occupancy.occupants(partner_host).size() > 1) {
      return partner_host;
    }
    const auto near = state_.near(partner_host);
    if (near.empty()) return here;
    return near[random_index(near.size())];
  }

  void propose_host_swap(float limit) {
    const auto& occupancy = state_.occupancy();
    if (!constraints_.allows_host_swaps()) return;
    const auto movable = constraints_.movable();
    const std::int32_t task = movable[random_index(movable.size())];
    const std::int32_t one = occupancy.host_of(task);
    const std::int32_t other = target_host(task, one);
    if (one == other || occupancy.occupants(one).size() != occupancy.occupants(other).size())
      return;
    if (state_.swap_hosts_change(one, other) < limit) {
      state_.swap_hosts(one, other);
      if constexpr (requires { state_.keep_if_best(); }) state_.keep_if_best();
    }
  }

  std::size_t random_index(std::size_t size) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int32_t>(size)));
  }

  State& state_;
  MoveConstraints& constraints_;
  Random random_;
};

}  // namespace fairlead::optimizing
