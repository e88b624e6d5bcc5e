// SPDX-License-Identifier: Apache-2.0
// Which sockets a process has open, by /proc (proc(5)).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace fairlead::router {

/// The process that has connected a Unix socket with this one; 0 if it is not to be seen from here.
[[nodiscard]] pid_t process_at(int socket);

/// Inodes of the sockets of a process. Nothing if that is unknown: it has ended, or it is another
/// user's, in a container of its own, or in another network than this process.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> sockets_of(pid_t process);

}  // namespace fairlead::router
