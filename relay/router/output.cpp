// SPDX-License-Identifier: Apache-2.0
// Gathers and sends.
#include "router/output.hpp"

#include <cerrno>

namespace fairlead::router {
namespace {

// Puts all of a pipe into a socket.
Progress drained(Pipe& pipe, int socket, bool has_more) {
  while (pipe.size_bytes() > 0) {
    const ssize_t size = pipe.drain(socket, pipe.size_bytes(), has_more);
    if (size == 0) return Progress::ended;
    if (size < 0 && errno != EINTR) return progress_after_error();
  }
  return Progress::complete;
}

}  // namespace

Progress Output::drain(bool has_more) {
  return pipe_ ? drained(*pipe_, socket_, has_more) : Progress::complete;
}

// After a call that would have put something into the pipe: makes space where it is full.
Progress Output::after_error() {
  if (errno == EINTR) return Progress::complete;
  const Progress progress = progress_after_error();
  return progress == Progress::blocked ? drain(true) : progress;
}

Progress Output::write(std::span<const std::byte>& rest, bool has_more) {
  if (!pipe_) return send(socket_, rest, has_more);
  while (!rest.empty()) {
    const ssize_t size = pipe_->write(rest);
    if (size > 0) rest = rest.subspan(static_cast<std::size_t>(size));
    if (size > 0) continue;
    const Progress progress = after_error();
    if (progress != Progress::complete) return progress;
  }
  return Progress::complete;
}

Progress Output::move(Pipe& from, bool has_more) {
  if (!pipe_) return drained(from, socket_, has_more);
  while (from.size_bytes() > 0) {
    if (pipe_->fill(from, from.size_bytes()) > 0) continue;
    const Progress progress = after_error();
    if (progress != Progress::complete) return progress;
  }
  return Progress::complete;
}

}  // namespace fairlead::router
