// SPDX-License-Identifier: Apache-2.0
// Writes to a socket: several frames with one system call, gathered in a pipe; without a pipe each
// part separately.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "router/pipe_pool.hpp"
#include "router/transfer.hpp"

namespace fairlead::router {

class Output {
 public:
  /// @param pipe  may be none
  Output(int socket, PipePool::Lease pipe) : socket_(socket), pipe_(std::move(pipe)) {}

  /// Takes the rest of a buffer; the span is reduced to the part that was not taken.
  /// @param has_more  more data follows at once, which may share the packet
  [[nodiscard]] Progress write(std::span<const std::byte>& rest, bool has_more);
  /// Takes all of a pipe without a copy.
  [[nodiscard]] Progress move(Pipe& from, bool has_more);
  /// Sends the bytes that are still buffered.
  [[nodiscard]] Progress flush() { return drain(false); }

 private:
  [[nodiscard]] Progress drain(bool has_more);
  [[nodiscard]] Progress after_error();

  int socket_;
  PipePool::Lease pipe_;
};

}  // namespace fairlead::router
