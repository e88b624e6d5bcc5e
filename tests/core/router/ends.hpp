// SPDX-License-Identifier: Apache-2.0
// Two ends of a connection, and bytes to send through it.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"

namespace fairlead::tests {

/// They do not block. Over TCP or a Unix socket.
class Ends {
 public:
  explicit Ends(bool is_tcp) {
    if (is_tcp) {
      asio::io_context context;
      const asio::ip::address_v4 loopback = asio::ip::address_v4::loopback();
      asio::ip::tcp::acceptor acceptor(context, {loopback, 0});
      asio::ip::tcp::socket near(context);
      near.connect(acceptor.local_endpoint());
      numbers_ = {near.release(), acceptor.accept().release()};
    } else {
      REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, numbers_.data()) == 0);
    }
    for (const int number : numbers_) REQUIRE(fcntl(number, F_SETFL, O_NONBLOCK) == 0);
  }
  ~Ends() {
    for (const int number : numbers_) close(number);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

  [[nodiscard]] int near() const { return numbers_[0]; }
  [[nodiscard]] int far() const { return numbers_[1]; }

 private:
  std::array<int, 2> numbers_{};
};

inline std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = 1;
  for (std::byte& each : bytes) {
    state = state * 1664525 + 1013904223;
    each = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

}  // namespace fairlead::tests
