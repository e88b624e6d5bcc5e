// SPDX-License-Identifier: Apache-2.0
// The counters of a router, in the text format of Prometheus.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fairlead::router {

/// Why a frame or a connection was dropped.
enum class Drop : std::uint8_t {
  bad_frame,
  bad_handshake,
  wrong_key,
  too_many_connections,
  stalled,
  unreachable,
  queue_full,
  count_
};

struct Counters {
  std::uint64_t forwarded_frames = 0;
  std::uint64_t forwarded_bytes = 0;
  std::uint64_t delivered_frames = 0;
  std::uint64_t delivered_bytes = 0;
  /// How often a connection was not read for a while because the next hop had no space.
  std::uint64_t pauses = 0;
  /// How often relaying was slowed down because other jobs on the host needed the interface.
  std::uint64_t yields = 0;
  std::uint64_t accepted_connections = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Drop::count_)> drops{};

  void drop(Drop reason) { ++drops[static_cast<std::size_t>(reason)]; }
};

/// What a router has at the moment.
struct Levels {
  std::size_t num_connections = 0;
  std::size_t num_jobs = 0;
  std::size_t queued_bytes = 0;
};

/// The text exposition format, version 0.0.4.
[[nodiscard]] std::string metrics_text(const Counters& counters, const Levels& levels);

}  // namespace fairlead::router
