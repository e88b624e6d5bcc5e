// SPDX-License-Identifier: Apache-2.0
// The engine `optimize`: placements by annealing on the measured network, level by level.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "fairlead/mapping/placement_cost.hpp"
#include "fairlead/matrices.hpp"

namespace fairlead {

/// How far a run has come.
struct OptimizeProgress {
  std::int64_t num_done;  ///< proposals
  std::int64_t num_all;
};

struct OptimizeOptions {
  /// Same seed and proposals, same answer, with any number of threads; a time is there for each.
  std::uint64_t seed = 0;
  /// Swaps to propose, all starts together; 0: enough for the number of tasks.
  std::int64_t num_proposals = 0;
  /// The search is planned for this time, and the run ends after it; what was best is the answer.
  /// Without it and `num_proposals`, a run ends after 10 s and 0.4 ms a task in any case.
  double time_limit_s = std::numeric_limits<double>::infinity();
  /// The run ends after this time as well, whatever was planned.
  double deadline_s = std::numeric_limits<double>::infinity();
  int num_threads = 1;
  /// Placements to begin from as well, (N, T) rows; the answer is never worse than the best of
  /// them that is allowed. With `most_moves`, the first is where the tasks are now.
  std::span<const std::vector<std::int64_t>> starts;
  /// Host of each task that must stay there, -1 for the others; empty: none is fixed.
  std::span<const std::int64_t> fixed_host_of_rank;
  /// How many tasks may leave the host they have in the first start; negative: any number.
  std::int64_t most_moves = -1;
  /// Called now and then, by one thread at a time; the run ends early when it returns false.
  std::function<bool(const OptimizeProgress&)> on_progress;
};

/// Hosts as leaves of a tree of groups: same host, rack, pod, ... For machines so large that no
/// matrix of all pairs is wanted.
struct HostTree {
  std::size_t num_hosts;
  /// Group of each host on each level, (L, H) rows: level 0 is the lowest above the host.
  std::span<const std::int64_t> group_of_host;
  /// Cost inside a host, then inside a group of each level, then between the groups of the last:
  /// length L + 2, not falling.
  std::span<const double> cost_of_level;
};

/// Sum over ordered pairs of ranks of traffic * cost of their hosts, as small as can be found.
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

/// Which cost of a placement `optimize_bottleneck` makes small.
enum class BottleneckObjective {
  bottleneck,          ///< PlacementCost::bottleneck_s
  bottleneck_and_mean  ///< PlacementCost::bottleneck_and_mean_s
};

/// The objective's cost, as small as can be found.
[[nodiscard]] std::vector<std::int64_t> optimize_bottleneck(const RankMatrix& bytes,
                                                            const RankMatrix& messages,
                                                            const MeasuredNetwork& network,
                                                            std::span<const std::int64_t> slots,
                                                            BottleneckObjective objective,
                                                            const OptimizeOptions& options);

}  // namespace fairlead
