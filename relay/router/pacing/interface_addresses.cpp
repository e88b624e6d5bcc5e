// SPDX-License-Identifier: Apache-2.0
// Asks the system for its interfaces.
#include "router/pacing/interface_addresses.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/ip/address.hpp>
#include <memory>
#include <span>

namespace fairlead::router {
namespace {

constexpr std::array<std::uint8_t, 12> kIpv4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<Address> address_of(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    return from_ipv4(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  }
  if (address->sa_family == AF_INET6) {
    return from_ipv6(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  }
  return std::nullopt;
}

std::optional<Address> parsed(const std::string& text) {
  asio::error_code failed;
  const auto address = asio::ip::make_address(text, failed);
  if (failed) return std::nullopt;
  return address.is_v4() ? from_ipv4(address.to_v4().to_bytes().data())
                         : from_ipv6(address.to_v6().to_bytes().data());
}

using Interfaces = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

Interfaces all_interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) first = nullptr;
  return {first, &freeifaddrs};
}

}  // namespace

Address from_ipv4(const void* four_bytes) {
  Address address{};
  std::ranges::copy(kIpv4Prefix, address.begin());
  std::copy_n(static_cast<const std::uint8_t*>(four_bytes), 4, address.begin() + 12);
  return address;
}

Address from_ipv6(const void* sixteen_bytes) {
  Address address{};
  std::copy_n(static_cast<const std::uint8_t*>(sixteen_bytes), address.size(), address.begin());
  return address;
}

bool is_ipv4(const Address& address) {
  return std::ranges::equal(kIpv4Prefix, std::span(address).first(kIpv4Prefix.size()));
}

std::optional<std::string> interface_of(const std::string& address) {
  const std::optional<Address> wanted = parsed(address);
  const Interfaces all = all_interfaces();
  for (const ifaddrs* each = all.get(); wanted && each != nullptr; each = each->ifa_next) {
    const bool is_loopback = (each->ifa_flags & IFF_LOOPBACK) != 0;
    if (!is_loopback && address_of(each->ifa_addr) == wanted) return each->ifa_name;
  }
  return std::nullopt;
}

InterfaceAddresses addresses_of(std::string_view interface) {
  InterfaceAddresses addresses;
  const Interfaces all = all_interfaces();
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    const std::optional<Address> address = address_of(each->ifa_addr);
    if (!address) continue;
    addresses.of_host.insert(*address);
    if (each->ifa_name == interface) addresses.of_interface.insert(*address);
  }
  return addresses;
}

}  // namespace fairlead::router
