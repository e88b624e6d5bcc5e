// SPDX-License-Identifier: Apache-2.0
// Sockets that never block, closed in programs that the process starts.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "endpoint/connection.hpp"
#include "fairlead/error.hpp"
#include "wire/tcp_options.hpp"

namespace fairlead::relay {
namespace {

constexpr int kFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* pointer() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

// Numeric addresses only: no name service is asked.
bool parse(const Address& address, SocketAddress& parsed) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), nullptr, &hints, &found) != 0) return false;
  parsed.size = found->ai_addrlen;
  std::memcpy(&parsed.storage, found->ai_addr, parsed.size);
  freeaddrinfo(found);
  if (parsed.storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&parsed.storage)->sin6_port = htons(address.port);
  } else {
    reinterpret_cast<sockaddr_in*>(&parsed.storage)->sin_port = htons(address.port);
  }
  return true;
}

std::string text_of(const SocketAddress& address) {
  std::array<char, NI_MAXHOST> text{};
  const int code = getnameinfo(address.pointer(), address.size, text.data(), text.size(), nullptr,
                               0, NI_NUMERICHOST);
  return code == 0 ? text.data() : "";
}

}  // namespace

FileDescriptor connect_locally(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  path.copy(address.sun_path, path.size());
  FileDescriptor made(socket(AF_UNIX, kFlags, 0));
  if (connect(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return made;
}

FileDescriptor connect_to(const Address& address) {
  SocketAddress parsed;
  if (!parse(address, parsed)) return {};
  FileDescriptor made(socket(parsed.storage.ss_family, kFlags, 0));
  prepare_tcp(made.number());
  if (connect(made.number(), parsed.pointer(), parsed.size) != 0 && errno != EINPROGRESS) return {};
  return made;
}

FileDescriptor listen_at(const std::string& host, std::uint16_t& port) {
  SocketAddress parsed;
  if (!parse({host, 0}, parsed)) throw Error(host + ": no address");
  FileDescriptor made(socket(parsed.storage.ss_family, kFlags, 0));
  if (bind(made.number(), parsed.pointer(), parsed.size) != 0 ||
      listen(made.number(), SOMAXCONN) != 0) {
    throw Error(host + ": cannot listen: " + std::strerror(errno));
  }
  socklen_t size = sizeof parsed.storage;
  getsockname(made.number(), reinterpret_cast<sockaddr*>(&parsed.storage), &size);
  port = ntohs(parsed.storage.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&parsed.storage)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&parsed.storage)->sin_port);
  return made;
}

FileDescriptor accept_from(const FileDescriptor& listener) {
  FileDescriptor made(accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made.is_open()) prepare_tcp(made.number());
  return made;
}

std::string canonical(const std::string& host) {
  SocketAddress parsed;
  return parse({host, 0}, parsed) ? text_of(parsed) : "";
}

std::string host_of_peer(const FileDescriptor& socket) {
  SocketAddress peer;
  peer.size = sizeof peer.storage;
  auto* const any = reinterpret_cast<sockaddr*>(&peer.storage);
  return getpeername(socket.number(), any, &peer.size) == 0 ? text_of(peer) : "";
}

}  // namespace fairlead::relay
