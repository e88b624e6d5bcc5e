// SPDX-License-Identifier: Apache-2.0
// The kernel's counters: bytes that passed an interface, and bytes sent by a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::router {

struct InterfaceBytes {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;

  friend bool operator==(const InterfaceBytes&, const InterfaceBytes&) = default;
  friend InterfaceBytes operator-(const InterfaceBytes& a, const InterfaceBytes& b) {
    return {.received = a.received - b.received, .sent = a.sent - b.sent};
  }
};

/// Finds an interface in the text of /proc/net/dev (proc(5)).
[[nodiscard]] std::optional<InterfaceBytes> parse_interface_bytes(std::string_view text,
                                                                  std::string_view interface);
[[nodiscard]] std::optional<InterfaceBytes> interface_bytes(std::string_view interface);

/// Bytes sent by a TCP connection, including retransmissions; 0 where they are not counted.
[[nodiscard]] std::uint64_t sent_bytes(int socket);

}  // namespace fairlead::router
