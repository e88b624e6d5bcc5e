// SPDX-License-Identifier: Apache-2.0
// Reads and writes without waiting. Asio's composed operations cut what they move into 64 KiB, so a
// header and a segment would be two system calls and, with TCP_NODELAY, two packets.
#include "router/transfer.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace fairlead::router {

Progress progress_after_error() {
  return errno == EAGAIN || errno == EWOULDBLOCK ? Progress::blocked : Progress::ended;
}

Progress receive(int socket, std::span<std::byte>& rest) {
  while (!rest.empty()) {
    const ssize_t size = recv(socket, rest.data(), rest.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return progress_after_error();
    if (size == 0) return Progress::ended;
    rest = rest.subspan(static_cast<std::size_t>(size));
  }
  return Progress::complete;
}

Progress send(int socket, std::span<const std::byte>& rest, bool has_more) {
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (has_more ? MSG_MORE : 0);
  while (!rest.empty()) {
    const ssize_t size = ::send(socket, rest.data(), rest.size(), flags);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return progress_after_error();
    rest = rest.subspan(static_cast<std::size_t>(size));
  }
  return Progress::complete;
}

}  // namespace fairlead::router
