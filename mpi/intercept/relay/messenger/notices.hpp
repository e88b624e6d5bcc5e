// SPDX-License-Identifier: Apache-2.0
// What a receiver tells the senders of messages: claims and refusals, each repeated by another way
// until there is a receipt of it. Pure: no sockets, no threads, no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "fairlead/relay/frame.hpp"
#include "relay/messenger/path_state.hpp"
#include "relay/messenger/site.hpp"

namespace fairlead::intercept::relay {

/// One to be sent now.
struct Notice {
  fairlead::relay::FrameHeader header;
  /// Not by routers, but by a connection with the sender of the message.
  bool is_past_routers = false;
};

class Notices {
 public:
  /// One that has no receipt after this time is sent again.
  static constexpr std::chrono::milliseconds kRepeatTime{300};

  explicit Notices(const MessengerSite& site);

  /// Takes a notice, unless the same one is on its way.
  /// @param kind  claim or refusal
  void add(std::uint32_t rank, std::uint64_t message, fairlead::relay::FrameKind kind);
  /// Those whose turn it is, at first by the direct route, then past the routers, then by relays.
  [[nodiscard]] std::vector<Notice> due(Time now);
  /// @param receipt  that of a notice
  void end(const fairlead::relay::FrameHeader& receipt);

  [[nodiscard]] bool is_empty() const { return pending_.empty(); }

 private:
  /// Rank of the message's sender, number of the message, and the kind of its receipt.
  using Key = std::tuple<std::uint32_t, std::uint64_t, fairlead::relay::FrameKind>;
  struct Pending {
    fairlead::relay::FrameHeader header;
    std::size_t num_sent = 0;
    Time next{};
  };

  [[nodiscard]] Notice notice_of(const Pending& pending) const;

  std::uint32_t rank_;
  std::vector<std::uint16_t> host_of_rank_;
  std::vector<std::vector<Route>> routes_of_host_;
  std::map<Key, Pending> pending_;
};

[[nodiscard]] constexpr bool is_notice(fairlead::relay::FrameKind kind) {
  using fairlead::relay::FrameKind;
  return kind == FrameKind::claim || kind == FrameKind::refusal;
}

/// The kind of the receipt of a claim or a refusal.
[[nodiscard]] constexpr fairlead::relay::FrameKind receipt_of(fairlead::relay::FrameKind kind) {
  using fairlead::relay::FrameKind;
  return kind == FrameKind::claim ? FrameKind::claim_receipt : FrameKind::refusal_receipt;
}

}  // namespace fairlead::intercept::relay
