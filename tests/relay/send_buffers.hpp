// SPDX-License-Identifier: Apache-2.0
// What the tests of the send buffer share: three hosts, with a clock of the test's own.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/send_buffer.hpp"

namespace fairlead::tests {

using namespace fairlead::relay;

const Time kStart = Time(std::chrono::seconds(1000));

inline double segment_s(double latency_s, double rate_Bps) {
  return latency_s + fairlead::relay::kMaxSegmentBytes / rate_Bps;
}

// What segments take from each host to each other one.
inline std::vector<std::vector<double>> links(std::size_t num_hosts, double time_s) {
  return std::vector(num_hosts, std::vector(num_hosts, time_s));
}

// Rank 0 on host 0, rank 1 on host 1; host 2 is a relay.
inline EndpointConfig config(double direct_Bps, double relayed_Bps) {
  EndpointConfig config;
  config.host_of_rank = {0, 1};
  config.paths_of_host.resize(3);
  config.capacity_Bps_of_host = {1e12, 1e12, 1e12};
  config.paths_of_host[1] = {{.hops = {1}, .latency_s = 1e-4, .bandwidth_Bps = direct_Bps},
                             {.hops = {2, 1}, .latency_s = 2e-4, .bandwidth_Bps = relayed_Bps}};
  config.segment_s_of_link = links(3, segment_s(1e-4, relayed_Bps));
  config.segment_s_of_link[0][1] = segment_s(1e-4, direct_Bps);
  return config;
}

inline Payload payload(std::size_t bytes) {
  return std::make_shared<const std::vector<std::byte>>(bytes);
}

inline fairlead::relay::FrameHeader ack(const Departure& departure) {
  fairlead::relay::FrameHeader header = departure.header;
  std::swap(header.src_rank, header.dst_rank);
  return header;
}

// As routers leave it on its return: what passed since the frame was before each hop.
inline fairlead::relay::FrameHeader ack(const Departure& departure,
                                        const std::vector<double>& hops_s) {
  fairlead::relay::FrameHeader header = ack(departure);
  double since_s = 0.0;
  for (std::size_t hop = hops_s.size(); hop-- > 0;) {
    since_s += hops_s[hop];
    header.hop_us[hop] = static_cast<std::uint32_t>(1e6 * since_s);
  }
  return header;
}

}  // namespace fairlead::tests
