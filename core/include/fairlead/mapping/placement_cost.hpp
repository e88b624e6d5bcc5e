// SPDX-License-Identifier: Apache-2.0
// What a placement costs on a measured network.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// Costs of one placement; `nan` if traffic crosses a pair that was not measured.
struct PlacementCost {
  double inter_bytes;    ///< bytes between different hosts; CloudMap eq. 1 and 2
  double intra_bytes;    ///< bytes between different ranks on a host; CloudMap eq. 3
  double comm_time_s;    ///< inter_bytes over the bandwidth of their pairs; CloudMap eq. 4
  double serial_time_s;  ///< all messages one after the other, with latencies and inside hosts
  double bottleneck_s;   ///< busiest NIC, pair or group, plus the worst rank's latencies
  /// bottleneck_s + serial_time_s / min(H, T): the time of the busiest part, and the mean time of
  /// the hosts that can share the work.
  double bottleneck_and_mean_s;
  double weighted_sum_bytes;     ///< sum of bytes / bandwidth_Bps
  double weighted_sum_messages;  ///< sum of messages * latency_s
};

/// Directed pairs of hosts behind one bottleneck each. A view, which owns nothing.
struct GroupList {
  std::span<const std::int64_t> group_of_pair;  ///< length P
  std::span<const std::int64_t> src_of_pair;    ///< length P
  std::span<const std::int64_t> dst_of_pair;    ///< length P
  std::span<const double> capacity_Bps;         ///< length: number of groups, > 0
};

/// The measured network; the diagonals count as they are given. A view, which owns nothing.
struct MeasuredNetwork {
  HostMatrix latency_s;      ///< (H, H)
  HostMatrix bandwidth_Bps;  ///< (H, H)
  /// Length H, or empty. Where it is missing or `nan`, the fastest pair through the NIC is used.
  std::span<const double> nic_out_Bps{};
  std::span<const double> nic_in_Bps{};
  GroupList groups{};
};

/// Costs of a placement in O(stored entries + H^2 + pairs in groups).
/// @param bytes,messages  traffic, (T, T)
[[nodiscard]] PlacementCost evaluate(const RankMatrix& bytes, const RankMatrix& messages,
                                     const MeasuredNetwork& network, HostOfRank host_of_rank);

/// What a host can send (or receive) in all: as measured, else that of the fastest pair; 0 if
/// neither is known. Length H.
[[nodiscard]] std::vector<double> sending_capacities_Bps(const MeasuredNetwork& network);
[[nodiscard]] std::vector<double> receiving_capacities_Bps(const MeasuredNetwork& network);

/// Sum over ordered pairs of ranks of traffic[src, dst] * cost[host of src, host of dst].
[[nodiscard]] double weighted_sum(const RankMatrix& traffic, const HostMatrix& cost,
                                  HostOfRank host_of_rank);

}  // namespace fairlead
