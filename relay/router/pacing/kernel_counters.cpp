// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's counters. Asio is kept out: <linux/tcp.h>, which has those of a connection,
// contradicts <netinet/tcp.h>.
#include "router/pacing/kernel_counters.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace fairlead::router {

std::optional<InterfaceBytes> parse_interface_bytes(std::string_view text,
                                                    std::string_view interface) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    const auto begin = line.find_first_not_of(' ');
    if (colon == line.npos || std::string_view(line).substr(begin, colon - begin) != interface) {
      continue;
    }
    // Bytes, then seven other counts of what was received; then bytes that were sent.
    std::istringstream numbers(line.substr(colon + 1));
    std::array<std::uint64_t, 9> counts{};
    for (std::uint64_t& count : counts) numbers >> count;
    if (!numbers) return std::nullopt;
    return InterfaceBytes{.received = counts.front(), .sent = counts.back()};
  }
  return std::nullopt;
}

std::optional<InterfaceBytes> interface_bytes(std::string_view interface) {
  // The file is that of this process's network namespace, unlike /sys.
  std::ifstream file("/proc/self/net/dev");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_interface_bytes(text, interface);
}

std::uint64_t sent_bytes(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  // Since Linux 4.19; an older kernel fills in less.
  constexpr std::size_t kEnd = offsetof(tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent;
  return size < kEnd ? 0 : info.tcpi_bytes_sent;
}

}  // namespace fairlead::router
