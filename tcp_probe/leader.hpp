// SPDX-License-Identifier: Apache-2.0
// Measures one pair of hosts.
#pragma once

#include <cstdint>
#include <string>

#include "fairlead/network/median_interval.hpp"

namespace fairlead::tcp_probe {

struct Peer {
  std::string address;
  std::uint16_t port = 0;
};

/// How precisely a pair is measured.
struct Precision {
  /// A metric is done when its interval is no wider than this part of its median.
  double target_ratio = 0.2;
  /// It is also done after this many samples.
  int max_samples = 6;
  /// No further sample is taken after this time.
  double limit_s = 10;
  /// Silence after which the peer is given up.
  double silence_timeout_s = 10;
};

struct PairResult {
  MedianEstimate latency_s;
  MedianEstimate there_Bps;
  MedianEstimate back_Bps;
  std::uint64_t train_bytes = 0;
};

/// @throws ProbeError: the peer did not answer.
[[nodiscard]] PairResult measure_pair(const Peer& peer, const std::string& key,
                                      const Precision& precision);

}  // namespace fairlead::tcp_probe
