// SPDX-License-Identifier: Apache-2.0
// Looks through the process's own file descriptors.
#include "carried_by_tcp.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace fairlead::probe {
namespace {

std::uint64_t acknowledged_bytes_of(int descriptor) {
  tcp_info info{};
  socklen_t length = sizeof info;
  // What is no TCP socket has no such option.
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_bytes_acked) + sizeof(std::uint64_t);
  return length >= kNeeded ? info.tcpi_bytes_acked : 0;
}

}  // namespace

std::uint64_t acknowledged_tcp_bytes() {
  std::uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (descriptor >= 0) bytes += acknowledged_bytes_of(descriptor);
  }
  return bytes;
}

}  // namespace fairlead::probe
