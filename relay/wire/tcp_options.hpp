// SPDX-License-Identifier: Apache-2.0
// TCP options of all connections of routers and messengers.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>

namespace fairlead::relay {

/// A TCP connection ends if the other end acknowledges nothing, or keeps its receive window closed,
/// for this time. TCP doubles its timeout before each retransmission (RFC 6298, 5.5), so after an
/// interruption the connection could stay silent for as long again. A new connection does not.
inline constexpr std::chrono::seconds kDeadTime{5};

/// Sends at once, and ends a connection that is dead. Does nothing for a Unix socket.
inline void prepare_tcp(int socket) {
  const auto set = [socket](int level, int name, int value) {
    (void)setsockopt(socket, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT,
      static_cast<int>(std::chrono::milliseconds(kDeadTime).count()));
  // For an end that only reads.
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(kDeadTime.count()));
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
}

}  // namespace fairlead::relay
