// SPDX-License-Identifier: Apache-2.0
// What ranks compute between messages, on hosts of different speeds, and the slowest rank's time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "fairlead/mapping/placement_cost.hpp"
#include "fairlead/matrices.hpp"

namespace fairlead {

/// Work of ranks and speeds of hosts. A view, which owns nothing.
struct ComputeDemand {
  /// Computing time of each rank on a core of speed 1, in seconds; length T, finite, >= 0. Empty:
  /// unknown.
  std::span<const double> work_s{};
  /// Speed of one core of each host, and of all its cores together; length H, finite, > 0.
  std::span<const double> one_core_speed{};
  std::span<const double> all_cores_speed{};

  [[nodiscard]] bool is_known() const { return !work_s.empty(); }
  /// Time of one second of work where `num_ranks` ranks of `host` compute at the same time: each
  /// has a core of its own, or an even share of all.
  [[nodiscard]] double seconds_per_work(std::size_t host, double num_ranks) const {
    return std::max(1.0 / one_core_speed[host], num_ranks / all_cores_speed[host]);
  }
};

/// The time of the slowest rank, which decides a step: the maximum over ranks of computing time,
/// summed latencies, and the busiest part of the network that its host uses (NIC, pair or group);
/// and the mean host's share of all messages, as in `PlacementCost::bottleneck_and_mean_s`. `nan`
/// if traffic crosses a pair that was not measured.
/// @param bytes,messages  traffic, (T, T)
/// @pre demand.is_known()
[[nodiscard]] double slowest_rank_s(const RankMatrix& bytes, const RankMatrix& messages,
                                    const MeasuredNetwork& network, const ComputeDemand& demand,
                                    HostOfRank host_of_rank);

}  // namespace fairlead
