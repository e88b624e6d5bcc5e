// SPDX-License-Identifier: Apache-2.0
// Which interface has an address, and which connections pass it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fairlead::router {

/// In network order. An IPv4 address is mapped into IPv6 (RFC 4291, 2.5.5.2), as the kernel does
/// where a socket of IPv6 is connected to it.
using Address = std::array<std::uint8_t, 16>;

[[nodiscard]] Address from_ipv4(const void* four_bytes);
[[nodiscard]] Address from_ipv6(const void* sixteen_bytes);
[[nodiscard]] bool is_ipv4(const Address& address);

/// The interface that has this address; none for the loopback interface, which is no network.
[[nodiscard]] std::optional<std::string> interface_of(const std::string& address);

struct InterfaceAddresses {
  std::set<Address> of_interface;
  std::set<Address> of_host;

  /// Whether a connection passes the interface: between addresses of one host it does not.
  [[nodiscard]] bool pass(const Address& local, const Address& remote) const {
    return of_interface.contains(local) && !of_host.contains(remote);
  }
};

[[nodiscard]] InterfaceAddresses addresses_of(std::string_view interface);

}  // namespace fairlead::router
