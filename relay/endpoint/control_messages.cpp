// SPDX-License-Identifier: Apache-2.0
#include "endpoint/control_messages.hpp"

#include <algorithm>

namespace fairlead::relay {

ControlMessages::ControlMessages(const EndpointConfig& config)
    : rank_(config.rank),
      host_of_rank_(config.host_of_rank),
      paths_of_host_(config.paths_of_host) {}

void ControlMessages::add(std::uint32_t rank, std::uint64_t message, FrameKind kind) {
  Pending pending;
  pending.header.kind = kind;
  pending.header.src_rank = rank_;
  pending.header.dst_rank = rank;
  pending.header.message = message;
  pending_.emplace(Key{rank, message, ack_of(kind)}, pending);
}

std::vector<ControlMessage> ControlMessages::due(Time now) {
  std::vector<ControlMessage> due;
  for (auto& [key, pending] : pending_) {
    if (pending.next > now) continue;
    due.push_back(control_message_of(pending));
    pending.next = now + kRepeatTime;
    ++pending.num_sent;
  }
  return due;
}

// A path that has failed may fail again, so all paths are used in turn.
ControlMessage ControlMessages::control_message_of(const Pending& pending) const {
  ControlMessage message{pending.header};
  const std::uint16_t host = host_of_rank_[message.header.dst_rank];
  const std::vector<HostPath>& paths = paths_of_host_[host];
  message.header.hops[0] = host;
  const std::size_t turn = pending.num_sent % (std::max<std::size_t>(paths.size(), 1) + 1);
  message.bypasses_routers = turn == 1;
  if (turn < 2) return message;
  const std::vector<std::uint16_t>& hops = paths[turn - 1].hops;
  message.header.num_hops = static_cast<std::uint8_t>(hops.size());
  std::copy(hops.begin(), hops.end(), message.header.hops.begin());
  return message;
}

void ControlMessages::end(const FrameHeader& ack) {
  pending_.erase({ack.src_rank, ack.message, ack.kind});
}

}  // namespace fairlead::relay
