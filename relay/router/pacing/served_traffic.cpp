// SPDX-License-Identifier: Apache-2.0
// Adds up differences: the bytes of a closed socket remain counted.
#include "router/pacing/served_traffic.hpp"

#include <algorithm>
#include <utility>

#include "router/pacing/process_sockets.hpp"

namespace fairlead::router {

std::optional<InterfaceBytes> ServedTraffic::update(std::span<const TcpSocket> sockets,
                                                    const std::set<pid_t>& processes) {
  if (is_due(sockets, processes) && !refresh(processes)) return std::nullopt;
  std::unordered_map<std::uint32_t, TcpSocket> last_of_inode;
  for (const TcpSocket& socket : sockets) {
    last_of_inode.emplace(socket.inode, socket);
    if (!served_inodes_.contains(socket.inode)) continue;
    const auto found = last_of_inode_.find(socket.inode);
    const TcpSocket before = found == last_of_inode_.end() ? TcpSocket{} : found->second;
    const InterfaceBytes passed = passed_between(before, socket);
    total_.received += passed.received;
    total_.sent += passed.sent;
  }
  last_of_inode_ = std::move(last_of_inode);
  return total_;
}

bool ServedTraffic::is_due(std::span<const TcpSocket> sockets,
                           const std::set<pid_t>& processes) const {
  const auto is_new = [this](const TcpSocket& socket) {
    return !last_of_inode_.contains(socket.inode);
  };
  return processes_ != processes || std::chrono::steady_clock::now() - refreshed_ >= kRefreshTime ||
         std::ranges::any_of(sockets, is_new);
}

bool ServedTraffic::refresh(const std::set<pid_t>& processes) {
  processes_.reset();
  served_inodes_.clear();
  for (const pid_t process : processes) {
    const auto inodes = sockets_of(process);
    if (!inodes) return false;
    served_inodes_.insert(inodes->begin(), inodes->end());
  }
  processes_ = processes;
  refreshed_ = std::chrono::steady_clock::now();
  return true;
}

}  // namespace fairlead::router
