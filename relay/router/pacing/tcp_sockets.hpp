// SPDX-License-Identifier: Apache-2.0
// All TCP sockets of this process's network, with what each has carried, as ss(8) reads them. No
// privilege is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "router/pacing/interface_addresses.hpp"
#include "router/pacing/kernel_counters.hpp"

namespace fairlead::router {

struct TcpSocket {
  /// Its number in /proc/PID/fd.
  std::uint32_t inode = 0;
  Address local{};
  Address remote{};
  /// Bytes that the other end has sent and that arrived in order, whether they are read or not.
  std::uint64_t received_bytes = 0;
  /// Bytes that were sent, including retransmissions.
  std::uint64_t sent_bytes = 0;
  /// Also those without data. They begin again after 2^32.
  std::uint32_t received_packets = 0;
  std::uint32_t sent_packets = 0;
};

/// Connected sockets that a process has; none if the kernel does not list them, or is older
/// than 4.19 and does not count what is sent.
[[nodiscard]] std::optional<std::vector<TcpSocket>> tcp_sockets();

/// What a socket has put on the network between two states, with headers. Interfaces that get
/// several packets as one count less, by a header for each.
[[nodiscard]] InterfaceBytes passed_between(const TcpSocket& before, const TcpSocket& now);

}  // namespace fairlead::router
