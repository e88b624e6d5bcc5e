// SPDX-License-Identifier: Apache-2.0
// Two ends of a connection, and bytes to send through it.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
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
      connect_over_tcp();
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
  void connect_over_tcp() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(bind(listener, any, size) == 0);
    REQUIRE(listen(listener, 1) == 0);
    REQUIRE(getsockname(listener, any, &size) == 0);
    numbers_[0] = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(connect(numbers_[0], any, size) == 0);
    numbers_[1] = accept(listener, nullptr, nullptr);
    close(listener);
  }

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
