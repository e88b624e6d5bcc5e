// SPDX-License-Identifier: Apache-2.0
// The engine `optimize`: placements by annealing on the measured network, level by level.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "fairlead/mapping/compute_demand.hpp"
#include "fairlead/mapping/placement_cost.hpp"
#include "fairlead/matrices.hpp"

namespace fairlead {

/// Progress of a run.
struct OptimizeProgress {
  std::int64_t num_done;  ///< proposals
  std::int64_t num_all;
};

struct OptimizeOptions {
  /// The same seed and number of proposals give the same answer with any number of threads. A time
  /// limit holds for each thread.
  std::uint64_t seed = 0;
  /// Swaps to propose, all starts together; 0: enough for the number of tasks.
  std::int64_t num_proposals = 0;
  /// The search is planned for this time, and the run ends after it with the best placement found.
  /// Without it and `num_proposals`, a run ends after 30 s and 0.4 ms a task in any case.
  double time_limit_s = std::numeric_limits<double>::infinity();
  /// The run also ends after this time, independent of the plan.
  double deadline_s = std::numeric_limits<double>::infinity();
  int num_threads = 1;
  /// Additional starts, (N, T) rows; the answer is never worse than the best allowed one. With
  /// `most_moves`, the first one is the current placement.
  std::span<const std::vector<std::int64_t>> starts;
  /// Host of each task that must stay there, -1 for the others; empty: none is fixed.
  std::span<const std::int64_t> fixed_host_of_rank;
  /// Most tasks that may leave their host in the first start; negative: any number.
  std::int64_t most_moves = -1;
  /// Called now and then, by one thread at a time; the run ends early when it returns false.
  std::function<bool(const OptimizeProgress&)> on_progress;
};

/// Hosts as leaves of a tree of groups: same host, rack, pod, ... For machines too large for a
/// matrix of all pairs.
struct HostTree {
  std::size_t num_hosts;
  /// Group of each host on each level, (L, H) rows: level 0 is the lowest above the host.
  std::span<const std::int64_t> group_of_host;
  /// Cost inside a host, then inside a group of each level, then between the groups of the last:
  /// length L + 2, not falling.
  std::span<const double> cost_of_level;
};

/// Minimises the sum over ordered pairs of ranks of traffic * cost of their hosts.
/// @param cost  (H, H), finite, >= 0, directed
/// @param slots  length H; T <= their sum
[[nodiscard]] std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic,
                                                     const HostMatrix& cost,
                                                     std::span<const std::int64_t> slots,
                                                     const OptimizeOptions& options);
/// The same for a tree, in memory proportional to tasks, exchanges and hosts.
[[nodiscard]] std::vector<std::int64_t> optimize_sum(const RankMatrix& traffic,
                                                     const HostTree& tree,
                                                     std::span<const std::int64_t> slots,
                                                     const OptimizeOptions& options);

/// The cost of a placement that `optimize_bottleneck` minimises.
enum class BottleneckObjective {
  bottleneck,          ///< PlacementCost::bottleneck_s
  bottleneck_and_mean  ///< PlacementCost::bottleneck_and_mean_s
};

/// Minimises the objective's cost; with a demand, which needs the objective with the mean,
/// `slowest_rank_s`.
[[nodiscard]] std::vector<std::int64_t> optimize_bottleneck(
    const RankMatrix& bytes, const RankMatrix& messages, const MeasuredNetwork& network,
    std::span<const std::int64_t> slots, BottleneckObjective objective,
    const OptimizeOptions& options, const ComputeDemand& demand = {});

}  // namespace fairlead
