// SPDX-License-Identifier: Apache-2.0
// Moves as much between memory and a socket as is possible at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead::router {

enum class Progress : std::uint8_t {
  complete,
  /// The socket has to become ready first.
  blocked,
  /// The connection has ended or failed.
  ended,
};

/// Progress of a system call that has failed.
[[nodiscard]] Progress progress_after_error();

/// Fills the rest of a buffer; the span is reduced to the missing part.
[[nodiscard]] Progress receive(int socket, std::span<std::byte>& rest);

/// Sends the rest of a buffer; the span is reduced to the unsent part.
/// @param has_more  more data follows at once, which may share the packet
[[nodiscard]] Progress send(int socket, std::span<const std::byte>& rest, bool has_more);

}  // namespace fairlead::router
