// SPDX-License-Identifier: Apache-2.0
// What a receiver sends to the senders of messages: claims and refusals, each repeated by another
// way until there is an ack of it. Pure: no sockets, no threads, no clock.
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
struct Notice {
  FrameHeader header;
  /// Not by routers, but by a connection with the sender of the message.
  bool bypasses_routers = false;
};

class Notices {
 public:
  /// One that has no ack after this time is sent again.
  static constexpr std::chrono::milliseconds kRepeatTime{300};

  explicit Notices(const EndpointConfig& config);

  /// Takes a notice, unless the same one is on its way.
  /// @param kind  claim or refusal
  void add(std::uint32_t rank, std::uint64_t message, FrameKind kind);
  /// Those whose turn it is, at first by the direct path, then without routers, then by relays.
  [[nodiscard]] std::vector<Notice> due(Time now);
  /// @param ack  that of a notice
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

  [[nodiscard]] Notice notice_of(const Pending& pending) const;

  std::uint32_t rank_;
  std::vector<std::uint16_t> host_of_rank_;
  std::vector<std::vector<HostPath>> paths_of_host_;
  std::map<Key, Pending> pending_;
};

[[nodiscard]] constexpr bool is_notice(FrameKind kind) {
  return kind == FrameKind::claim || kind == FrameKind::refusal;
}

/// The kind of the ack of a claim or a refusal.
[[nodiscard]] constexpr FrameKind ack_of(FrameKind kind) {
  return kind == FrameKind::claim ? FrameKind::claim_ack : FrameKind::refusal_ack;
}

}  // namespace fairlead::relay
