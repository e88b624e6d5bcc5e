// SPDX-License-Identifier: Apache-2.0
// What the kernel counts of TCP sockets.
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "ends.hpp"
#include "router/pacing/tcp_sockets.hpp"
#include "tcp_ends.hpp"

using namespace fairlead::router;
using fairlead::tests::Ends;
using fairlead::tests::known_sockets;
using fairlead::tests::some_bytes;
using fairlead::tests::TcpEnds;

namespace {

TcpSocket found(int socket) {
  struct stat status{};
  REQUIRE(fstat(socket, &status) == 0);
  const auto sockets = known_sockets();
  const auto it = std::ranges::find(sockets, status.st_ino, &TcpSocket::inode);
  REQUIRE(it != sockets.end());
  return *it;
}

}  // namespace

TEST_CASE("TCP sockets: bytes of both directions are those that were sent") {
  const TcpEnds ends;
  REQUIRE(send(ends.near(), some_bytes(5000).data(), 5000, 0) == 5000);
  REQUIRE(send(ends.far(), some_bytes(70).data(), 70, 0) == 70);

  const TcpSocket near = found(ends.near());
  const TcpSocket far = found(ends.far());

  // Nothing of it has been read.
  CHECK(near.sent_bytes == 5000 + ends.repeated_bytes());
  CHECK(near.received_bytes == 70);
  CHECK(far.sent_bytes >= 70);
  CHECK(far.received_bytes == 5000);
  CHECK(near.sent_packets >= 2);
  CHECK(far.received_packets == near.sent_packets);
}

TEST_CASE("TCP sockets: both ends of a connection have the same addresses") {
  const Ends ends(true);
  constexpr std::array<std::uint8_t, 4> kLoopback{127, 0, 0, 1};

  const TcpSocket near = found(ends.near());

  CHECK(near.local == from_ipv4(kLoopback.data()));
  CHECK(near.remote == near.local);
}

TEST_CASE("TCP sockets: as many as there are do not fit into one answer") {
  std::vector<std::unique_ptr<Ends>> all;
  for (int count = 0; count < 200; ++count) all.push_back(std::make_unique<Ends>(true));

  for (const auto& ends : all) CHECK(found(ends->far()).received_bytes == 0);
}

TEST_CASE("TCP sockets: each packet has headers, and their count begins again") {
  std::array<std::uint8_t, 16> ipv6{0xfd};
  const TcpSocket before{.local = from_ipv4(ipv6.data()),
                         .received_bytes = 10,
                         .sent_bytes = 100,
                         .received_packets = 0xffffffff,
                         .sent_packets = 7};
  TcpSocket now = before;
  now.received_bytes += 1000;
  now.received_packets += 3;
  now.sent_packets += 1;

  // Ethernet 14, IPv4 20 or IPv6 40, TCP with timestamps 32.
  CHECK(passed_between(before, now) == InterfaceBytes{.received = 1000 + 3 * 66, .sent = 66});
  now.local = from_ipv6(ipv6.data());
  CHECK(passed_between(before, now) == InterfaceBytes{.received = 1000 + 3 * 86, .sent = 86});
}
