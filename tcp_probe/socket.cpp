// SPDX-License-Identifier: Apache-2.0
// TCP by blocking calls with a time limit each.
#include "socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

namespace fairlead::tcp_probe {
namespace {

constexpr int kBacklog = 1024;

[[noreturn]] void fail(const std::string& what, int error = errno) {
  const bool is_late = error == EAGAIN || error == EWOULDBLOCK || error == EINPROGRESS;
  throw ProbeError(what + ": " + (is_late ? "no answer in time" : std::strerror(error)));
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses parse(const std::string& address, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const int error = getaddrinfo(address.c_str(), service.c_str(), &wanted, &found);
  if (error != 0) throw ProbeError(address + ": " + gai_strerror(error));
  return {found, &freeaddrinfo};
}

int open_socket(const addrinfo& address) {
  const int descriptor = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("socket");
  return descriptor;
}

void wait_until_connected(int descriptor, const std::string& address, double limit_s) {
  pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
  const int num_ready = poll(&waiting, 1, static_cast<int>(limit_s * 1000));
  if (num_ready <= 0) fail(address, num_ready == 0 ? EAGAIN : errno);
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) fail(address, error);
}

}  // namespace

Socket Socket::connect(const std::string& address, std::uint16_t port, double limit_s) {
  const Addresses found = parse(address, port, 0);
  Socket made(open_socket(*found));
  const int flags = fcntl(made.descriptor_.number(), F_GETFL);
  fcntl(made.descriptor_.number(), F_SETFL, flags | O_NONBLOCK);
  if (::connect(made.descriptor_.number(), found->ai_addr, found->ai_addrlen) != 0) {
    if (errno != EINPROGRESS) fail(address);
    wait_until_connected(made.descriptor_.number(), address, limit_s);
  }
  fcntl(made.descriptor_.number(), F_SETFL, flags);
  made.bound_waits(limit_s);
  return made;
}

Socket Socket::listen(const std::string& address) {
  const Addresses found = parse(address, 0, AI_PASSIVE);
  Socket made(open_socket(*found));
  if (bind(made.descriptor_.number(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(made.descriptor_.number(), kBacklog) != 0) {
    fail(address);
  }
  return made;
}

std::uint16_t Socket::port() const {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(descriptor_.number(), reinterpret_cast<sockaddr*>(&bound), &size);
  // The port is at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

Socket Socket::accept(double limit_s) const {
  for (;;) {
    const int descriptor = accept4(descriptor_.number(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) {
      Socket made(descriptor);
      made.bound_waits(limit_s);
      return made;
    }
    if (errno != EINTR && errno != ECONNABORTED) fail("accept");
  }
}

void Socket::send(std::span<const std::byte> data) const {
  while (!data.empty()) {
    const ssize_t sent = ::send(descriptor_.number(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail("send");
    data = data.subspan(static_cast<std::size_t>(sent));
  }
}

void Socket::receive(std::span<std::byte> data) const {
  while (!data.empty()) {
    const ssize_t received = recv(descriptor_.number(), data.data(), data.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) fail("receive");
    if (received == 0) throw ProbeError("the peer closed the connection");
    data = data.subspan(static_cast<std::size_t>(received));
  }
}

void Socket::bound_waits(double limit_s) const {
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(limit_s);
  limit.tv_usec = static_cast<suseconds_t>((limit_s - std::floor(limit_s)) * 1e6);
  const int yes = 1;
  setsockopt(descriptor_.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(descriptor_.number(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  setsockopt(descriptor_.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace fairlead::tcp_probe
