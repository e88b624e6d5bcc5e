// SPDX-License-Identifier: Apache-2.0
// Asks the kernel by sock_diag(7).
#include "router/pacing/tcp_sockets.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "fairlead/file_descriptor.hpp"

namespace fairlead::router {
namespace {

// As the kernel proposes for dumps (sock_diag(7) has the same).
constexpr std::size_t kAnswerBytes = 32768;
// It answers at once; this only guards against waiting for ever.
constexpr timeval kAnswerTimeout{.tv_sec = 0, .tv_usec = 100'000};
// Headers of Ethernet, IP (RFC 791, 8200) and TCP with its timestamps (RFC 9293, 7323).
constexpr std::uint64_t kIpv4HeaderBytes = 14 + 20 + 32;
constexpr std::uint64_t kIpv6HeaderBytes = 14 + 40 + 32;

// Those that carry data (include/net/tcp_states.h). A socket that is only half connected, or that
// waits for late packets, belongs to no process.
constexpr std::uint32_t kStates = 1U << 1U /* established */ | 1U << 4U /* fin_wait1 */ |
                                  1U << 5U /* fin_wait2 */ | 1U << 8U /* close_wait */ |
                                  1U << 9U /* last_ack */ | 1U << 11U /* closing */;

FileDescriptor open_netlink() {
  FileDescriptor made(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  (void)setsockopt(made.number(), SOL_SOCKET, SO_RCVTIMEO, &kAnswerTimeout, sizeof kAnswerTimeout);
  return made;
}

bool ask(int netlink, int family) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.request.sdiag_family = static_cast<std::uint8_t>(family);
  message.request.sdiag_protocol = IPPROTO_TCP;
  message.request.idiag_ext = 1U << (INET_DIAG_INFO - 1U);
  message.request.idiag_states = kStates;
  return send(netlink, &message, sizeof message, 0) == ssize_t{sizeof message};
}

// None without all that is counted.
std::optional<TcpSocket> parsed(const nlmsghdr* header) {
  if (header->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return std::nullopt;
  const auto* const message = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
  const bool is_ipv6 = message->idiag_family == AF_INET6;
  const auto address_of = [is_ipv6](const __be32* address) {
    return is_ipv6 ? from_ipv6(address) : from_ipv4(address);
  };
  auto missing = static_cast<unsigned>(header->nlmsg_len - NLMSG_LENGTH(sizeof(inet_diag_msg)));
  const auto* attribute = reinterpret_cast<const rtattr*>(message + 1);
  for (; RTA_OK(attribute, missing); attribute = RTA_NEXT(attribute, missing)) {
    if (attribute->rta_type != INET_DIAG_INFO) continue;
    constexpr std::size_t kEnd = offsetof(tcp_info, tcpi_bytes_sent) + sizeof(__u64);
    if (RTA_PAYLOAD(attribute) < kEnd) return std::nullopt;
    tcp_info info{};
    std::memcpy(&info, RTA_DATA(attribute), kEnd);
    return TcpSocket{.inode = message->idiag_inode,
                     .local = address_of(message->id.idiag_src),
                     .remote = address_of(message->id.idiag_dst),
                     .received_bytes = info.tcpi_bytes_received,
                     .sent_bytes = info.tcpi_bytes_sent,
                     .received_packets = info.tcpi_segs_in,
                     .sent_packets = info.tcpi_segs_out};
  }
  return std::nullopt;
}

// Adds those of a family; false if the kernel refuses.
bool add_all(int netlink, int family, std::vector<TcpSocket>& sockets) {
  if (!ask(netlink, family)) return false;
  while (true) {
    alignas(nlmsghdr) std::array<std::byte, kAnswerBytes> answer;
    const ssize_t size = recv(netlink, answer.data(), answer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    auto missing = static_cast<unsigned>(size);
    const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
    for (; NLMSG_OK(header, missing); header = NLMSG_NEXT(header, missing)) {
      if (header->nlmsg_type == NLMSG_DONE) return true;
      if (header->nlmsg_type == NLMSG_ERROR) return false;
      const std::optional<TcpSocket> socket = parsed(header);
      if (!socket) return false;
      if (socket->inode != 0) sockets.push_back(*socket);
    }
  }
}

}  // namespace

std::optional<std::vector<TcpSocket>> tcp_sockets() {
  const FileDescriptor netlink = open_netlink();
  std::vector<TcpSocket> sockets;
  for (const int family : {AF_INET, AF_INET6}) {
    if (!add_all(netlink.number(), family, sockets)) return std::nullopt;
  }
  return sockets;
}

InterfaceBytes passed_between(const TcpSocket& before, const TcpSocket& now) {
  const std::uint64_t header_bytes = is_ipv4(now.local) ? kIpv4HeaderBytes : kIpv6HeaderBytes;
  const auto passed = [header_bytes](std::uint64_t bytes, std::uint32_t packets) {
    return bytes + header_bytes * packets;
  };
  return {
      .received = passed(now.received_bytes - before.received_bytes,
                         now.received_packets - before.received_packets),
      .sent = passed(now.sent_bytes - before.sent_bytes, now.sent_packets - before.sent_packets)};
}

}  // namespace fairlead::router
