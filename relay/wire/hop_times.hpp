// SPDX-License-Identifier: Apache-2.0
// The time of a frame over each hop: MCM's "latency of the message in every step of path", which
// the ack brings to the source. Pure: the caller has the clock.
//
//   data   R0 ─────▶ R1 ─────▶ R2     each router writes its clock before the hop
//   ack    R0 ◀───── R1 ◀───── R2     each subtracts it from its clock
//
// The result at R0 less the result at R1 is the time from the frame's arrival at R0 to its arrival
// at R1, plus the time of the ack from R1 to R0. Clocks of different hosts are never compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "wire/frame.hpp"

namespace fairlead::relay {

/// A router is about to send data over the hop that comes next.
inline void stamp_departure(FrameHeader& header, std::uint32_t now_us) {
  if (header.kind == FrameKind::data) header.hop_us[header.hop] = now_us;
}

/// An ack has reached this router, which is the next hop in its header. An ack has the hops of its
/// data frame in reverse order.
inline void note_return(FrameHeader& header, std::uint32_t now_us) {
  if (header.kind != FrameKind::ack) return;
  std::uint32_t& time_us = header.hop_us[header.num_hops - std::size_t{1} - header.hop];
  time_us = now_us - time_us;
}

/// The time over each hop in seconds, including the way back of the ack.
/// @param took_s  time from the departure of the frame to the arrival of its ack, by the source's
/// clock
/// @return nothing where a router on the path wrote no time, or an impossible one
[[nodiscard]] inline std::optional<std::vector<double>> seconds_of_hops(const FrameHeader& ack,
                                                                        double took_s) {
  // Clocks are rounded down.
  constexpr double kTolerance_s = 2e-6;
  std::vector<double> hops_s;
  double before_s = took_s;
  for (std::size_t hop = 0; hop < ack.num_hops; ++hop) {
    const double since_s = 1e-6 * ack.hop_us[hop];
    if (since_s <= 0.0 || since_s > before_s + kTolerance_s) return std::nullopt;
    // The time between the source and its own router counts as part of the first hop.
    if (hop == 0) continue;
    hops_s.push_back(std::max(before_s - since_s, 0.0));
    before_s = since_s;
  }
  hops_s.push_back(before_s);
  return hops_s;
}

}  // namespace fairlead::relay
