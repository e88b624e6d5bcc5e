// SPDX-License-Identifier: Apache-2.0
// Reads links in /proc.
#include "router/pacing/process_sockets.hpp"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::router {
namespace {

// "socket:[1234]"
std::optional<std::uint32_t> parse_inode(std::string_view link) {
  constexpr std::string_view kBegin = "socket:[";
  if (!link.starts_with(kBegin) || !link.ends_with(']')) return std::nullopt;
  link.remove_prefix(kBegin.size());
  link.remove_suffix(1);
  std::uint32_t inode = 0;
  const auto [stop, error] = std::from_chars(link.data(), link.data() + link.size(), inode);
  if (error != std::errc() || stop != link.data() + link.size()) return std::nullopt;
  return inode;
}

// The kernel lists only sockets of this network.
bool is_in_this_network(const std::string& folder) {
  struct stat its{};
  struct stat own{};
  return stat("/proc/self/ns/net", &own) == 0 && stat((folder + "/ns/net").c_str(), &its) == 0 &&
         its.st_dev == own.st_dev && its.st_ino == own.st_ino;
}

}  // namespace

pid_t process_at(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 ? other.pid : 0;
}

std::optional<std::vector<std::uint32_t>> sockets_of(pid_t process) {
  if (process <= 0) return std::nullopt;
  const std::string folder = "/proc/" + std::to_string(process);
  if (!is_in_this_network(folder)) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir((folder + "/fd").c_str()), &closedir);
  if (!files) return std::nullopt;
  std::vector<std::uint32_t> inodes;
  while (const dirent* const file = readdir(files.get())) {
    std::array<char, 64> link{};
    const ssize_t size = readlinkat(dirfd(files.get()), file->d_name, link.data(), link.size());
    if (size <= 0) continue;
    const auto inode = parse_inode({link.data(), static_cast<std::size_t>(size)});
    if (inode) inodes.push_back(*inode);
  }
  return inodes;
}

}  // namespace fairlead::router
