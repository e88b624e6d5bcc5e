// SPDX-License-Identifier: Apache-2.0
// Reads from a socket: many frames with one system call into a pipe, and from the pipe piece by
// piece. A call to a pipe costs less than one to a TCP socket, which may send an ack.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "router/pipe_pool.hpp"
#include "router/transfer.hpp"

namespace fairlead::router {

class Intake {
 public:
  /// Maximum number of bytes that are read at once.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

  explicit Intake(std::shared_ptr<PipePool> pipes) : pipes_(std::move(pipes)) {}

  /// Fills the rest of a buffer; the span is reduced to the missing part. Without a pipe the bytes
  /// come from the socket itself.
  [[nodiscard]] Progress read(int socket, std::span<std::byte>& rest);
  /// Moves bytes into another pipe without a copy.
  /// @param missing_bytes  lowered by what was moved
  /// @return complete also if the other pipe is full
  [[nodiscard]] Progress move(int socket, Pipe& to, std::size_t& missing_bytes);

  /// What has been taken from the socket and waits here.
  [[nodiscard]] std::size_t size_bytes() const { return pipe_ ? pipe_->size_bytes() : 0; }
  /// Whether there is a pipe to take something into.
  [[nodiscard]] bool has_pipe();
  /// Reads from the socket until this many bytes are here, the socket has no more, or the pipe is
  /// full.
  /// @pre has_pipe()
  [[nodiscard]] Progress fill(int socket, std::size_t least_bytes);
  /// Moves the bytes in the pipe into another socket.
  /// @param missing_bytes  lowered by what was moved; more of it is expected to follow
  /// @return blocked if the other socket is not ready
  [[nodiscard]] Progress pass(int to_socket, std::size_t& missing_bytes);

 private:
  // An idle connection keeps no pipe.
  [[nodiscard]] Progress fill_or_return_pipe(int socket);

  std::shared_ptr<PipePool> pipes_;
  // Only while there is something to take: most connections are idle.
  PipePool::Lease pipe_;
};

}  // namespace fairlead::router
