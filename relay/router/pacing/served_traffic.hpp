// SPDX-License-Identifier: Apache-2.0
// Bytes that passed the network by the sockets of some processes, also as sockets open and close.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "router/pacing/tcp_sockets.hpp"

namespace fairlead::router {

class ServedTraffic {
 public:
  /// A socket may be listed shortly before it belongs to its process, and may be passed to another
  /// process later.
  static constexpr std::chrono::seconds kRefreshTime{1};

  /// @param sockets  of all processes, all that there are now
  /// @return what those of these processes have sent and received, in all calls together; what they
  ///     had before the first one counts in that. Nothing if it is unknown which these are.
  [[nodiscard]] std::optional<InterfaceBytes> update(std::span<const TcpSocket> sockets,
                                                     const std::set<pid_t>& processes);

 private:
  [[nodiscard]] bool is_due(std::span<const TcpSocket> sockets,
                            const std::set<pid_t>& processes) const;
  [[nodiscard]] bool refresh(const std::set<pid_t>& processes);

  // All sockets of the last call, so that new ones are distinguished from those of others.
  std::unordered_map<std::uint32_t, TcpSocket> last_of_inode_;
  std::unordered_set<std::uint32_t> served_inodes_;
  std::optional<std::set<pid_t>> processes_;
  std::chrono::steady_clock::time_point refreshed_;
  InterfaceBytes total_;
};

}  // namespace fairlead::router
