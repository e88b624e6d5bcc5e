// SPDX-License-Identifier: Apache-2.0
// What a placement costs on a measured network.
#pragma once

#include "fairlead/matrices.hpp"

namespace fairlead {

/// Costs of one placement. A `nan` tells that traffic crosses a pair that was not measured.
struct PlacementCost {
  double inter_bytes;            ///< bytes between different hosts; CloudMap eq. 1 and 2
  double intra_bytes;            ///< bytes inside hosts; CloudMap eq. 3
  double comm_time_s;            ///< all messages one after the other; CloudMap eq. 4
  double bottleneck_s;           ///< busiest NIC or pair, plus the worst rank's latencies
  double weighted_sum_bytes;     ///< sum of bytes / bandwidth_Bps
  double weighted_sum_messages;  ///< sum of messages * latency_s
};

/// Costs of a placement in O(stored entries + H^2).
/// @param bytes,messages  traffic, (T, T)
/// @param latency_s,bandwidth_Bps  network, (H, H); the diagonal counts as it is given
[[nodiscard]] PlacementCost evaluate(const RankMatrix& bytes, const RankMatrix& messages,
                                     const HostMatrix& latency_s, const HostMatrix& bandwidth_Bps,
                                     HostOfRank host_of_rank);

/// Sum over ordered pairs of ranks of traffic[src, dst] * cost[host of src, host of dst].
[[nodiscard]] double weighted_sum(const RankMatrix& traffic, const HostMatrix& cost,
                                  HostOfRank host_of_rank);

}  // namespace fairlead
