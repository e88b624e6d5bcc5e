// SPDX-License-Identifier: Apache-2.0
// Reads all that a socket has.
#include "router/intake.hpp"

#include <algorithm>
#include <cerrno>

namespace fairlead::router {

bool Intake::has_pipe() {
  if (!pipe_) pipe_ = pipes_->lease();
  return pipe_ != nullptr;
}

Progress Intake::fill(int socket, std::size_t least_bytes) {
  while (pipe_->size_bytes() < least_bytes) {
    const ssize_t size = pipe_->fill(socket, kMaxBytes);
    if (size == 0) return Progress::ended;
    if (size > 0 || errno == EINTR) continue;
    const Progress progress = progress_after_error();
    const bool is_full = pipe_->size_bytes() > 0 && pipe_->is_full();
    if (progress == Progress::blocked && is_full) break;
    return progress;
  }
  return Progress::complete;
}

Progress Intake::fill_or_return_pipe(int socket) {
  const Progress progress = fill(socket, 1);
  if (progress == Progress::blocked) pipe_.reset();
  return progress;
}

Progress Intake::pass(int to_socket, std::size_t& missing_bytes) {
  while (missing_bytes > 0 && pipe_->size_bytes() > 0) {
    const std::size_t part_bytes = std::min(missing_bytes, pipe_->size_bytes());
    const ssize_t size = pipe_->drain(to_socket, part_bytes, part_bytes < missing_bytes);
    if (size == 0) return Progress::ended;
    if (size > 0) missing_bytes -= static_cast<std::size_t>(size);
    if (size < 0 && errno != EINTR) return progress_after_error();
  }
  return Progress::complete;
}

Progress Intake::read(int socket, std::span<std::byte>& rest) {
  while (!rest.empty()) {
    if (!has_pipe()) return receive(socket, rest);
    const Progress progress = fill_or_return_pipe(socket);
    if (progress != Progress::complete) return progress;
    const ssize_t size = pipe_->read(rest);
    if (size < 0 && errno != EINTR) return Progress::ended;
    if (size > 0) rest = rest.subspan(static_cast<std::size_t>(size));
  }
  return Progress::complete;
}

Progress Intake::move(int socket, Pipe& to, std::size_t& missing_bytes) {
  while (missing_bytes > 0) {
    const bool is_piped = has_pipe();
    if (is_piped) {
      const Progress progress = fill_or_return_pipe(socket);
      if (progress != Progress::complete) return progress;
    }
    const ssize_t size = is_piped ? to.fill(*pipe_, missing_bytes) : to.fill(socket, missing_bytes);
    if (size == 0) return Progress::ended;
    if (size > 0) missing_bytes -= static_cast<std::size_t>(size);
    if (size > 0 || errno == EINTR) continue;
    const bool is_empty = !is_piped && progress_after_error() == Progress::blocked;
    if (is_empty && !to.is_full()) return Progress::blocked;
    break;
  }
  return Progress::complete;
}

}  // namespace fairlead::router
