// SPDX-License-Identifier: Apache-2.0
// Which connections pass an interface.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>

#include "catch.hpp"
#include "router/pacing/interface_addresses.hpp"

using namespace fairlead::router;

namespace {

Address address(const char* text) {
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET, text, bytes.data()) == 1) return from_ipv4(bytes.data());
  REQUIRE(inet_pton(AF_INET6, text, bytes.data()) == 1);
  return from_ipv6(bytes.data());
}

}  // namespace

TEST_CASE("interface addresses: an IPv4 address is the same as seen by a socket of IPv6") {
  CHECK(address("10.1.2.3") == address("::ffff:10.1.2.3"));
  CHECK(is_ipv4(address("::ffff:10.1.2.3")));
  CHECK_FALSE(is_ipv4(address("fd00::1")));
}

TEST_CASE("interface addresses: connections to other hosts pass the interface of their address") {
  const InterfaceAddresses addresses{.of_interface = {address("10.0.0.1"), address("fd00::1")},
                                     .of_host = {address("10.0.0.1"), address("fd00::1"),
                                                 address("10.9.0.1"), address("127.0.0.1")}};

  CHECK(addresses.pass(address("10.0.0.1"), address("10.0.0.2")));
  CHECK(addresses.pass(address("fd00::1"), address("fd00::2")));
  CHECK_FALSE(addresses.pass(address("10.9.0.1"), address("10.9.0.2")));
}

TEST_CASE("interface addresses: connections between addresses of one host pass none") {
  const InterfaceAddresses addresses{
      .of_interface = {address("10.0.0.1")},
      .of_host = {address("10.0.0.1"), address("10.9.0.1"), address("127.0.0.1")}};

  CHECK_FALSE(addresses.pass(address("10.0.0.1"), address("10.0.0.1")));
  CHECK_FALSE(addresses.pass(address("10.0.0.1"), address("10.9.0.1")));
  CHECK_FALSE(addresses.pass(address("127.0.0.1"), address("127.0.0.1")));
}

TEST_CASE("interface addresses: those of this machine are found") {
  const InterfaceAddresses loopback = addresses_of("lo");
  CHECK(loopback.of_interface.contains(address("127.0.0.1")));
  CHECK(loopback.of_host.contains(address("127.0.0.1")));
  CHECK(addresses_of("none").of_interface.empty());
}

TEST_CASE("interface addresses: the loopback interface and an unknown address are no network") {
  CHECK_FALSE(interface_of("127.0.0.1").has_value());
  CHECK_FALSE(interface_of("192.0.2.1").has_value());
  CHECK_FALSE(interface_of("nonsense").has_value());
}
