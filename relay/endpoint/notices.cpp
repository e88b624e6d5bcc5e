// SPDX-License-Identifier: Apache-2.0
#include "endpoint/notices.hpp"

#include <algorithm>

namespace fairlead::relay {

Notices::Notices(const EndpointConfig& config)
    : rank_(config.rank),
      host_of_rank_(config.host_of_rank),
      paths_of_host_(config.paths_of_host) {}

void Notices::add(std::uint32_t rank, std::uint64_t message, FrameKind kind) {
  Pending pending;
  pending.header.kind = kind;
  pending.header.src_rank = rank_;
  pending.header.dst_rank = rank;
  pending.header.message = message;
  pending_.emplace(Key{rank, message, ack_of(kind)}, pending);
}

std::vector<Notice> Notices::due(Time now) {
  std::vector<Notice> due;
  for (auto& [key, pending] : pending_) {
    if (pending.next > now) continue;
    due.push_back(notice_of(pending));
    pending.next = now + kRepeatTime;
    ++pending.num_sent;
  }
  return due;
}

// A path that has failed may fail again, so all of them have their turn.
Notice Notices::notice_of(const Pending& pending) const {
  Notice notice{pending.header};
  const std::uint16_t host = host_of_rank_[notice.header.dst_rank];
  const std::vector<HostPath>& paths = paths_of_host_[host];
  notice.header.hops[0] = host;
  const std::size_t turn = pending.num_sent % (std::max<std::size_t>(paths.size(), 1) + 1);
  notice.bypasses_routers = turn == 1;
  if (turn < 2) return notice;
  const std::vector<std::uint16_t>& hops = paths[turn - 1].hops;
  notice.header.num_hops = static_cast<std::uint8_t>(hops.size());
  std::copy(hops.begin(), hops.end(), notice.header.hops.begin());
  return notice;
}

void Notices::end(const FrameHeader& ack) {
  pending_.erase({ack.src_rank, ack.message, ack.kind});
}

}  // namespace fairlead::relay
