// SPDX-License-Identifier: Apache-2.0
// Common data of all starts of a run: slots, given placements, shares of proposals and time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/mapping/optimize.hpp"
#include "mapping/anneal/coarsening.hpp"
#include "mapping/anneal/cooling.hpp"
#include "mapping/anneal/move_constraints.hpp"
#include "mapping/anneal/stop_criterion.hpp"

namespace fairlead::optimizing {

/// Host of each task, in the library's public form.
using Placement = std::vector<std::int64_t>;

[[nodiscard]] std::vector<std::int32_t> narrow(std::span<const std::int64_t> values);
[[nodiscard]] Placement widen(std::span<const std::int32_t> values);

/// 0, 1, 2, ...
[[nodiscard]] std::vector<std::int32_t> in_order(std::int32_t number);

/// Tasks in their order, hosts filled one after the other.
[[nodiscard]] HostOfTask filled(const SlotsOfHost& slots, std::int32_t num_tasks,
                                std::span<const std::int32_t> hosts);

/// The search budget: the number of starts, and each one's share of the proposals and the time.
struct Budget {
  const OptimizeOptions& options;
  SlotsOfHost slots;
  std::int32_t num_tasks;
  std::vector<HostOfTask> starts;    ///< given ones, fixed tasks in their places; at least one
  int num_cuts;                      ///< tries of each cut of a multisection; 0: none is made
  double part_to_cut;                ///< of the time of all walks, at most; 1 without a limit
  std::int64_t proposals_to_refine;  ///< the best given placement; 0: it is left as it is
  double part_to_refine;             ///< the same
  std::int64_t proposals_per_start;
  int num_starts;
  double part_of_start;  ///< the same
  Timer timer;
  double end_s;  ///< of the run, on the timer

  /// @param timer  begun with the run
  /// @param proposals_per_s  what one core is expected to do
  /// @param is_matrix_sum  whether the objective is the sum on a matrix: a part of the proposals is
  ///   for the best given placement, and problems of one slot on each host have starts of their own
  ///   length
  /// @param cut_s  seconds that a multisection with one try of each cut takes; 0: none is possible
  Budget(const OptimizeOptions& given, std::span<const std::int64_t> slots_of_host,
         std::size_t num_ranks, double proposals_per_s, bool is_matrix_sum, Timer timer,
         double cut_s);

  /// Whether the number of tasks that may leave the first start is limited.
  [[nodiscard]] bool is_bound() const { return options.most_moves >= 0; }
  /// Whether every task may go anywhere.
  [[nodiscard]] bool is_free() const { return !is_bound() && options.fixed_host_of_rank.empty(); }
  /// Whether no host has more than one slot: the quadratic assignment problem.
  [[nodiscard]] bool is_assignment() const {
    return std::ranges::all_of(slots, [](std::int32_t number) { return number <= 1; });
  }
  [[nodiscard]] MoveConstraints constraints() const;
  /// The cooling of a start, or of a part of it.
  [[nodiscard]] Cooling cooling(double hot, double cold, double part, double end_s_of_it) const {
    return {.hot = hot,
            .cold = cold,
            .num_steps = static_cast<std::int64_t>(static_cast<double>(proposals_per_start) * part),
            .end_s = end_s_of_it};
  }
  [[nodiscard]] double proposals_per_task() const {
    return static_cast<double>(proposals_per_start) / std::max(1, num_tasks);
  }
  /// The given placement that start number `start` begins from.
  [[nodiscard]] const HostOfTask& given_start(int start) const {
    return starts[static_cast<std::size_t>(start) % starts.size()];
  }
};

}  // namespace fairlead::optimizing
