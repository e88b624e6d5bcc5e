// SPDX-License-Identifier: Apache-2.0
// Messages about one step of the contention probe: rank 0's order to a host, and the host's report.
#pragma once

#include <array>
#include <cstdint>

namespace fairlead::probe {

/// Most flows of one host in one step.
inline constexpr int kMostFlows = 8;

/// One end of a flow.
struct FlowEnd {
  std::int32_t peer;
  std::int32_t is_sender;
  std::int64_t message_bytes;
};

/// How long the flows of a step run. All begin at about the same time. Counting begins when all
/// hosts send and token buckets are empty, and ends before any host stops.
struct FlowTiming {
  double lead_s;
  double window_s;
  double tail_s;

  [[nodiscard]] double total_s() const { return lead_s + window_s + tail_s; }
};

struct FlowOrder {
  std::int32_t step;
  std::int32_t num_flows;
  FlowTiming timing;
  std::array<FlowEnd, kMostFlows> ends;
};

struct FlowReport {
  std::int32_t step;
  std::int32_t has_given_up;
  /// Rate of each flow of the order that was received here; nan for sent flows, and if nothing
  /// arrived.
  std::array<double, kMostFlows> rates_Bps;
};

}  // namespace fairlead::probe
