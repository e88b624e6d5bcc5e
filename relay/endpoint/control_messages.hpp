// SPDX-License-Identifier: Apache-2.0
// What a receiver sends to the senders of messages: matches and rejections, each repeated by
// another path until its ack comes. Pure: no sockets, no threads, no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "endpoint/endpoint_config.hpp"
#include "routing/path_state.hpp"
#include "wire/frame.hpp"

namespace fairlead::relay {

/// One to be sent now.
struct ControlMessage {
  FrameHeader header;
  /// Not by routers, but by a connection with the sender of the message.
  bool bypasses_routers = false;
};

class ControlMessages {
 public:
  /// One that has no ack after this time is sent again.
  static constexpr std::chrono::milliseconds kRepeatTime{300};

  explicit ControlMessages(const EndpointConfig& config);

  /// Adds a control message, unless the same one is in flight.
  /// @param kind  match or rejection
  void add(std::uint32_t rank, std::uint64_t message, FrameKind kind);
  /// Those that are due: first by the direct path, then without routers, then by relays.
  [[nodiscard]] std::vector<ControlMessage> due(Time now);
  /// @param ack  that of a control message
  void end(const FrameHeader& ack);

  [[nodiscard]] bool is_empty() const { return pending_.empty(); }

 private:
  /// Rank of the message's sender, number of the message, and the kind of its ack.
  using Key = std::tuple<std::uint32_t, std::uint64_t, FrameKind>;
  struct Pending {
    FrameHeader header;
    std::size_t num_sent = 0;
    Time next{};
  };

  [[nodiscard]] ControlMessage control_message_of(const Pending& pending) const;

  std::uint32_t rank_;
  std::vector<std::uint16_t> host_of_rank_;
  std::vector<std::vector<HostPath>> paths_of_host_;
  std::map<Key, Pending> pending_;
};

[[nodiscard]] constexpr bool is_control_message(FrameKind kind) {
  return kind == FrameKind::match || kind == FrameKind::reject;
}

/// The kind of the ack of a match or a rejection.
[[nodiscard]] constexpr FrameKind ack_of(FrameKind kind) {
  return kind == FrameKind::match ? FrameKind::match_ack : FrameKind::reject_ack;
}

}  // namespace fairlead::relay
