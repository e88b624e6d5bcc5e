// SPDX-License-Identifier: Apache-2.0
// What a leader and a follower of a pair send each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "socket.hpp"

namespace fairlead::tcp_probe {

/// Characters of the job's key, which opens every connection; others are closed.
inline constexpr std::size_t kKeyBytes = 32;

/// Largest message or train; what an unknown peer may ask for is bounded.
inline constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kMaxCount = 1000;

enum class Exercise : std::uint64_t {
  /// The follower returns each of `count` messages.
  echo = 1,
  /// The follower calls each of `count` trains by one byte, receives and times it, and sends the
  /// times.
  push = 2,
  /// The leader does.
  pull = 3,
};

struct Request {
  Exercise exercise;
  std::uint64_t count;
  std::uint64_t bytes;
};

void send_request(const Socket& peer, const Request& request);
/// @throws ProbeError: the request is not one of these.
[[nodiscard]] Request receive_request(const Socket& peer);

/// Times in nanoseconds.
void send_times(const Socket& peer, const std::vector<double>& durations_s);
[[nodiscard]] std::vector<double> receive_times(const Socket& peer, std::uint64_t count);

void send_bytes(const Socket& peer, std::uint64_t bytes);
void receive_bytes(const Socket& peer, std::uint64_t bytes);

/// Times of trains that this side calls and receives, each from the call to its last byte.
[[nodiscard]] std::vector<double> receive_trains(const Socket& peer, std::uint64_t count,
                                                 std::uint64_t bytes);
/// The other side of it.
void send_trains(const Socket& peer, std::uint64_t count, std::uint64_t bytes);

void send_key(const Socket& peer, const std::string& key);
[[nodiscard]] std::string receive_key(const Socket& peer);

/// Seconds of a clock that is never set.
[[nodiscard]] double now_s();

}  // namespace fairlead::tcp_probe
