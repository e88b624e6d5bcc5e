// SPDX-License-Identifier: Apache-2.0
// Two ends of a TCP connection, and when nothing is under way between them.
#pragma once

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "ends.hpp"
#include "router/pacing/tcp_sockets.hpp"

namespace fairlead::tests {

/// What the kernel says of a connection, by tcp(7).
inline tcp_info tcp_info_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  REQUIRE(getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
  return info;
}

/// All connections, as soon as the kernel answers in the router's time.
inline std::vector<router::TcpSocket> known_sockets() {
  for (int round = 0; round < 100; ++round) {
    if (auto sockets = router::tcp_sockets()) return *sockets;
  }
  FAIL("the kernel does not list its sockets");
  return {};
}

class TcpEnds : public Ends {
 public:
  TcpEnds() : Ends(true), at_rest_(under_way()) {}

  /// Waits until all that was sent is acknowledged and no packet is under way; false after half a
  /// minute. `send` returns when the bytes are in the kernel's buffer.
  [[nodiscard]] bool come_to_rest() const {
    for (int round = 0; round < 30'000; ++round) {
      if (under_way() == at_rest_ && is_acknowledged(near()) && is_acknowledged(far())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  /// What the near end has sent again: TCP does so where acks are late, as on a busy
  /// machine.
  [[nodiscard]] std::size_t repeated_bytes() const {
    return tcp_info_of(near()).tcpi_bytes_retrans;
  }

 private:
  // Packets of each direction. Those of the handshake are not counted at both ends.
  [[nodiscard]] std::array<std::uint32_t, 2> under_way() const {
    const tcp_info first = tcp_info_of(near());
    const tcp_info second = tcp_info_of(far());
    return {first.tcpi_segs_out - second.tcpi_segs_in, second.tcpi_segs_out - first.tcpi_segs_in};
  }
  static bool is_acknowledged(int socket) {
    const tcp_info info = tcp_info_of(socket);
    return info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0;
  }

  std::array<std::uint32_t, 2> at_rest_;
};

}  // namespace fairlead::tests
