// SPDX-License-Identifier: Apache-2.0
// Takes and gives payloads.
#include "payload.hpp"

#include <cerrno>

namespace fairlead::router {

Payload::Payload(std::size_t size_bytes, PipePool& pipes) : missing_bytes_(size_bytes) {
  if (size_bytes >= kMinSplicedBytes) pipe_ = pipes.lease();
}

Progress Payload::receive(int socket) {
  while (pipe_ && !memory_ && missing_bytes_ > 0) {
    const ssize_t size = pipe_->fill(socket, missing_bytes_);
    if (size == 0) return Progress::ended;
    if (size > 0) {
      missing_bytes_ -= static_cast<std::size_t>(size);
    } else if (progress_after_error() == Progress::blocked && !pipe_->is_full()) {
      return Progress::blocked;
    } else if (errno != EINTR) {
      break;
    }
  }
  if (missing_bytes_ == 0) return Progress::complete;
  if (!memory_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(missing_bytes_);
    missing_ = {memory_.get(), missing_bytes_};
    unsent_ = missing_;
  }
  return router::receive(socket, missing_);
}

Progress Payload::send(int socket, bool has_more) {
  while (pipe_ && pipe_->size_bytes() > 0) {
    const ssize_t size = pipe_->drain(socket, has_more || memory_);
    if (size == 0) return Progress::ended;
    if (size < 0 && errno != EINTR) return progress_after_error();
  }
  return router::send(socket, unsent_, has_more);
}

}  // namespace fairlead::router
